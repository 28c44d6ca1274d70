import type { KeepItem, Report } from '../contract/operation-result.ts'
import type { ResultTerms } from '../contract/request-terms.ts'
import { capsMarkup } from '../enrich/markup-cap.ts'
import {
  items,
  itemsOf,
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  parseAt,
  RANGE,
  textOf,
} from '../json/bytes/json-node.ts'
import { readJson } from '../json/bytes/read-json.ts'
import { literalOf, type Replacement, splice } from '../json/bytes/splice.ts'
import { COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json/char-codes.ts'
import { isSpace } from '../json/text-tokens.ts'
import { encodeContent } from '../pipeline/encode.ts'
import type { ContentRequest } from '../pipeline/read-input.ts'
import type { ByteOperation, OperationContext } from './operation.ts'
import { paginationOf } from './result-pagination.ts'

/** The name of the operation, for the pool and for reports. */
export const PACK_RESULT = 'pack_result'

const BLOCK = members({
  type: RANGE,
  text: RANGE,
  annotations: members({ audience: items(RANGE) }),
})
const RESULT = members({ content: items(BLOCK), structuredContent: RANGE, isError: RANGE })

/** Selected values of one result: some tens of thousands of blocks. */
const MAX_VALUES = 200_000

/** A shorter text cannot get smaller. */
const SHORTEST_TEXT = 32
/** Of large markup so much is left: some 4 kB. */
const MARKUP_TOKENS = 1_000

/** The result of an MCP tool call, a JSON object, with smaller texts if possible. */
export const packResultOperation: ByteOperation = {
  kind: 'bytes',
  name: PACK_RESULT,
  run(body, context) {
    const terms = context.terms?.result
    if (terms === undefined) throw new Error('a result needs terms')
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const limits = { maxBytes: bytes.length, maxDepth: context.maxDepth, maxValues: MAX_VALUES }
    const root = readJson(bytes, RESULT, limits)
    // A member that is there twice may be read either way.
    if (root === null || root.members === null || root.doubled) return UNCHANGED
    return new ResultPacker(bytes, terms, context).pack(root)
  },
}

const UNCHANGED = { bytes: null, reports: [], records: [], keep: [], markers: [] } as const

class ResultPacker {
  readonly #bytes: JsonBytes
  readonly #terms: ResultTerms
  readonly #context: OperationContext
  readonly #args: unknown
  readonly #edits: Replacement[] = []
  readonly #keep: KeepItem[] = []
  readonly #reports: Report[] = []

  constructor(bytes: JsonBytes, terms: ResultTerms, context: OperationContext) {
    this.#bytes = bytes
    this.#terms = terms
    this.#context = context
    this.#args = readArgs(terms.args)
  }

  pack(root: JsonNode) {
    const content = memberOf(root, 'content')
    const structured = memberOf(root, 'structuredContent')
    const isError = this.#isWord(memberOf(root, 'isError'), 'true')
    const isReplaced =
      this.#terms.structured === 'text' && !isError && this.#isContainer(structured)
    if (isReplaced && structured !== undefined) {
      if (!this.#replaceStructured(root, content, structured)) return UNCHANGED
    } else {
      for (const block of itemsOf(content)) this.#packBlock(block, isError)
    }
    if (this.#edits.length === 0) return { ...UNCHANGED, reports: this.#reports }
    const packed = splice(this.#bytes, this.#edits)
    return { ...UNCHANGED, bytes: packed, reports: this.#reports, keep: this.#keep }
  }

  #packBlock(block: JsonNode, isError: boolean): void {
    if (!this.#isForModel(block)) return
    const text = memberOf(block, 'text') as JsonNode
    const content = parseAt(this.#bytes, text) as string
    if (content.length < SHORTEST_TEXT) return
    const encoded = this.#encode(content, isError)
    if (encoded === content) return
    this.#edits.push({ start: text.start, end: text.end, literal: literalOf(encoded) })
  }

  /**
   * Puts one text in place of the structured value and of the texts that are the same once more.
   * All other blocks stay.
   */
  #replaceStructured(root: JsonNode, content: JsonNode | undefined, structured: JsonNode): boolean {
    const json = this.#bytes.toString('utf8', structured.start, structured.end)
    const block = Buffer.concat([
      Buffer.from('{"type":"text","text":'),
      literalOf(this.#encode(json, false)),
      Buffer.from('}'),
    ])
    if (content === undefined) {
      const named = Buffer.concat([Buffer.from('"content":['), block, Buffer.from(']')])
      this.#edits.push({ start: structured.keyStart, end: structured.end, literal: named })
      return true
    }
    if (content.items === null) return false
    const canonical = JSON.stringify(JSON.parse(json))
    const kept = content.items.filter(each => !this.#represents(each, canonical))
    const blocks = [block, ...kept.map(({ start, end }) => this.#bytes.subarray(start, end))]
    const list = Buffer.concat([
      Buffer.from('['),
      ...blocks.flatMap((each, i) => (i === 0 ? [each] : [Buffer.from(','), each])),
      Buffer.from(']'),
    ])
    this.#edits.push({ start: content.start, end: content.end, literal: list })
    this.#edits.push({ ...memberRange(this.#bytes, root, structured), literal: NOTHING })
    this.#edits.sort((a, b) => a.start - b.start)
    return true
  }

  /** Whether a block is a text for the model with this JSON, and nothing else. */
  #represents(block: JsonNode, canonical: string): boolean {
    if (!this.#isForModel(block)) return false
    const text = parseAt(this.#bytes, memberOf(block, 'text') as JsonNode) as string
    try {
      return JSON.stringify(JSON.parse(text)) === canonical
    } catch {
      return false
    }
  }

  #encode(content: string, isError: boolean): string {
    const { tool } = this.#terms
    const { mode, budget_tokens, ...omits } = this.#limitsOf(content)
    const { answer, keep, reports } = encodeContent(
      {
        content,
        tool,
        mode: isError ? 'lossless' : mode,
        ...(isError ? { is_error: true } : {}),
        ...(isError || budget_tokens === undefined ? {} : { budget_tokens }),
        ...(this.#args === undefined ? {} : { args: this.#args }),
        ...(isError ? {} : omits),
        ...paginationOf(content),
      },
      this.#context,
    )
    this.#keep.push(...(keep ?? []))
    this.#reports.push(...reports.map(report => ({ ...report, op: PACK_RESULT })))
    return answer.content
  }

  /** What may leave out parts of a text: the server's mode, its tool's fields, large markup. */
  #limitsOf(content: string): Pick<ContentRequest, 'mode' | 'budget_tokens' | 'omits'> {
    const { tool, mode, budget_tokens, omitted_fields: fields = [], markup } = this.#terms
    const budget = budget_tokens === undefined ? {} : { budget_tokens }
    if (markup !== undefined && capsMarkup(tool, markup.server, content, markup.keywords)) {
      return { mode: 'elide', budget_tokens: Math.min(MARKUP_TOKENS, budget_tokens ?? Infinity) }
    }
    if (fields.length === 0 || mode === 'trim') return { mode, ...budget }
    return { mode: 'elide', ...budget, omits: { fields, bulk: mode === 'elide' } }
  }

  /** A text block that is not for the user alone. */
  #isForModel(block: JsonNode): boolean {
    if (block.doubled || textOf(this.#bytes, memberOf(block, 'type')) !== 'text') return false
    const text = memberOf(block, 'text')
    if (text === undefined || this.#bytes[text.start] !== QUOTE) return false
    const audience = memberOf(memberOf(block, 'annotations'), 'audience')
    const readers = itemsOf(audience).map(each => textOf(this.#bytes, each))
    return readers.length === 0 || readers.includes('assistant')
  }

  #isContainer(node: JsonNode | undefined): boolean {
    const first = node === undefined ? undefined : this.#bytes[node.start]
    return first === OPEN_BRACE || first === OPEN_BRACKET
  }

  #isWord(node: JsonNode | undefined, word: string): boolean {
    return node !== undefined && this.#bytes.toString('latin1', node.start, node.end) === word
  }
}

const NOTHING = new Uint8Array(0)

function readArgs(args: Uint8Array | undefined): unknown {
  if (args === undefined) return undefined
  try {
    return JSON.parse(Buffer.from(args.buffer, args.byteOffset, args.byteLength).toString())
  } catch {
    return undefined
  }
}

/** The bytes of a member and of the comma that belongs to it, without which the rest is JSON. */
function memberRange(bytes: JsonBytes, root: JsonNode, member: JsonNode) {
  const { keyStart, end } = member
  let after = end
  while (isSpace(bytes[after] as number)) after++
  if (bytes[after] === COMMA) return { start: keyStart, end: after + 1 }
  let before = keyStart - 1
  while (before > root.start && isSpace(bytes[before] as number)) before--
  return { start: bytes[before] === COMMA ? before : keyStart, end }
}
