/**
 * Reads hints by the rule of docs/reference/hints.md, "Content that looks like a hint", and shares
 * no code with what writes them.
 */
const OURS =
  /^> \[(?:ref |near-ref |lines? \d|\+\d|encoded: |query: |total=|\d+ of \d+(?:\]| calls searched)|\d.* not shown)/
const JSON_MARKER = '"> ['

/**
 * Lines that are hints of ours, in their order; in JSON the marker that its last item or member is.
 */
export function readHints(text: string): readonly string[] {
  if (isJson(text)) {
    const at = text.lastIndexOf(JSON_MARKER)
    const rest = at === -1 ? '' : text.slice(at, -1)
    return isJson(rest) ? [JSON.parse(rest)].filter(marker => OURS.test(marker)) : []
  }
  return text.split('\n').filter(line => OURS.test(line))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const QUOTES = /[»›❯❱⟩⟫〉》▶▸►]/gu
const BRACKETS = /[⁅❲⟦⟬⦋⦗【〔〖〘〚﹝]/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal does not show
const UNSEEN = /\u001b\[[0-9;?]*[A-Za-z]|(?![\t\n\v\f\r\u0085])[\p{Cc}\p{Cf}]/gu
const WORDS =
  'ref [0-9a-f]{6}|near-ref [0-9a-f]{6}|\\d+ \\w+ (?:kept|not shown)|\\+\\d|\\d+ of \\d|lines? \\d'
const ALIKE = new RegExp(
  `(?<!\\\\)>[ \\t]*\\[[ \\t]*(?:${WORDS})|(?:^|[\\n\\r\\u2028])[ \\t*+-]*\\[(?:ref [0-9a-f]{6}|\\d+ \\w+ not shown|\\.\\.\\. lines \\d|chunks\\])`,
  'iu',
)

/**
 * What a careful reader sees in a text that is like a hint and has no escape before it; `null` if
 * there is nothing.
 */
export function bareLookAlike(text: string): string | null {
  const seen = text.replace(UNSEEN, '').replace(QUOTES, '>').replace(BRACKETS, '[')
  return ALIKE.exec(seen.normalize('NFKC'))?.[0] ?? null
}
