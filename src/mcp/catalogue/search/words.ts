/** Words that tools and queries share whatever they are about. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an and any are as at be by can for from has have how if in into is it its of on or',
    'that the then this to use used using want when which will with you your',
  ].flatMap(line => line.split(' ')),
)

/** Single characters of scripts that have no spaces; else runs of letters and digits. */
const RUNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu
const CAMEL = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/**
 * The stems of a text's words, in their order. Snake case and camel case are split; a name in camel
 * case is also one word of its own (`YouTube`: you, tube, youtube).
 */
export function wordsOf(text: string): string[] {
  return (text.match(RUNS) ?? []).flatMap(run => {
    const parts = run.split(CAMEL)
    const all = parts.length > 1 ? [...parts, run] : parts
    return all
      .map(each => each.toLowerCase())
      .filter(each => !STOP_WORDS.has(each))
      .map(stem)
  })
}

/** Without the endings of English plurals and verbs: `creates`, `created`, `creation`: `creat`. */
function stem(word: string): string {
  let rest = word.replace(/(?<=\w{2})ies$/, 'y').replace(/(?<=\w{2}[^suix])s$/, '')
  rest = rest.replace(/(?<=\w{3})(?:ing|ed|ion)$/, '').replace(/(?<=\w{2})e$/, '')
  return rest.replace(/(?<=\w)([^aeiouylsz\d])\1$/, '$1')
}
