import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * What changes of sessions have in common: names of fields and frequent values, the most frequent
 * last. Changes are too small to be compressed by themselves. Never edit it: stored changes need
 * it. A better one needs a bit of its own in the store's `change-value.ts`.
 */
const DICTIONARY = Buffer.from(
  [
    '"skipped":[],"warnings":[],"notes":[],"markers":[],"attributes":{"isSidechain":true',
    '"cl100k_base","claude","markdown_table","flat_object","array_of_objects","nested_object"',
    '"numbered_list","bullet_list","code_block","unknown","url","path","json","log","diff","code"',
    '"layer":"L1","format":"text@1","csv@1","table@1","lines@1","delta@1","log@1","shape":"prose"',
    '"tool":"Bash","Grep","WebFetch","Edit","Write","argument":"src/","test/",".ts",".py"',
    ',["i",{"pathHash":',
    ',["h",0,',
    ',["c",{"calls":1,"hits":1,"reference_tokens":0,"dedup_tokens":0}]]',
    ',["f",0,1,',
    '],["n",1,"{\\"attempt\\":\\"0-0-4-8-a\\",\\"by\\":\\"session\\",',
    '\\"answer\\":{\\"content\\":\\"> [ref ',
    ' Read 1 call ago]\\",\\"layer\\":\\"L0\\",\\"format\\":\\"ref@1\\",\\"shape\\":\\"prose\\",',
    '\\"inner_formats\\":[],\\"tokens\\":{\\"tokenizer\\":\\"o200k_base\\",\\"exact\\":true,',
    '\\"baseline\\":1000,\\"final\\":14},\\"lossless\\":true,\\"ref\\":\\"',
    '\\"hints\\":[{\\"family\\":\\"reference\\",\\"text\\":\\"> [ref ',
    ' calls ago]\\"}],\\"elided\\":[],\\"savings\\":{\\"dedup_tokens\\":700,',
    '\\"encoder_tokens\\":0,',
    '\\"elided_tokens\\":0},\\"bytes\\":{\\"raw\\":2000,\\"output\\":32},\\"truncated\\":false,',
    '\\"partition\\":0},\\"dependencies\\":[{\\"session\\":\\"\\",\\"ref\\":\\"\\",',
    '\\"identity\\":\\"',
    '\\",\\"context\\":[',
    ']}]}"],["c",{"dedup_tokens_saved":700,"dedup_hits":1}]]',
    '[1,1,17,["',
    '","',
    '"],["n",0,"{\\"attempt\\":\\"-4-8-9-a-b\\",\\"by\\":\\"itself\\"}"],["c",',
    '{"baseline_tokens":1000,',
    '"final_tokens":500,"encoder_tokens_saved":500,"elided_tokens":0}],["r",1,1,-1,',
    ',0,0,0,16],["b",1,2000,"{\\"tool\\":\\"Read\\",\\"argument\\":\\"src/index.ts\\",',
    '\\"sequence\\":1,',
    '\\"hops\\":16}"]]',
  ].join(''),
)

/**
 * The changes of a session, compressed. It takes some 30 µs, so the thread that made them does it.
 */
export function packChanges(bytes: Uint8Array): Uint8Array {
  // A view of a pooled buffer would take all of it along to another thread.
  return new Uint8Array(deflateRawSync(bytes, { dictionary: DICTIONARY }))
}

/** @param bytes how many there were @returns `null` if they are damaged */
export function unpackChanges(packed: Uint8Array, bytes: number): Uint8Array | null {
  try {
    const options = { dictionary: DICTIONARY, maxOutputLength: Math.max(1, bytes) }
    const unpacked = inflateRawSync(packed, options)
    return unpacked.byteLength === bytes ? unpacked : null
  } catch {
    return null
  }
}
