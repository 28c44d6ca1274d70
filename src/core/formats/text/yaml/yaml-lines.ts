/** The lines of a document, with what a reader asks again and again. */
export interface YamlLines {
  /** As they are in the source. */
  readonly source: readonly string[]
  /** Spaces before the text of each line. */
  readonly indents: number[]
  /** The lines without these; an item's line lacks its dash while the item is read. */
  readonly contents: string[]
  /** For each line, the next one that is not blank, itself included; the count if there is none. */
  readonly nextFilled: Uint32Array
  /** The same without comments. */
  readonly nextContent: Uint32Array
}

export function readLines(source: readonly string[]): YamlLines {
  const indents = source.map(spacesBefore)
  const contents = source.map((line, at) => line.slice(indents[at]))
  const nextFilled = new Uint32Array(source.length + 1).fill(source.length)
  const nextContent = new Uint32Array(source.length + 1).fill(source.length)
  for (let at = source.length - 1; at >= 0; at--) {
    const content = contents[at]!
    nextFilled[at] = content === '' ? nextFilled[at + 1]! : at
    nextContent[at] = content === '' || content.startsWith('#') ? nextContent[at + 1]! : at
  }
  return { source, indents, contents, nextFilled, nextContent }
}

function spacesBefore(line: string): number {
  let at = 0
  while (line.charCodeAt(at) === 0x20) at++
  return at
}

/** Whether a line is an item of a list. */
export function isItem(content: string): boolean {
  return content.startsWith('- ') || content === '-'
}

/** A key, and what follows it after the colon. */
export interface Entry {
  readonly key: string
  readonly rest: string
}

/**
 * Whether a line may be in a document that `readYaml` takes. One that is not indented must be a
 * key, an item or a comment. Most texts have another one soon, so nothing else is read of them.
 */
export function mayBeOutermost(line: string, colon: boolean): boolean {
  if (line === '' || line.startsWith(' ') || line.startsWith('#') || isItem(line)) return true
  return (colon ? findEntry(line) : findSpacedEntry(line)) !== null
}

const NO_KEY = /^[[{#|>%@`!&*\t]/

/** The key at the start of a line; `null` if there is none. */
export function findEntry(content: string): Entry | null {
  if (NO_KEY.test(content)) return null
  const colon = colonAt(content)
  if (colon <= 0) return null
  const key = content.slice(0, colon)
  if (key.includes(' #')) return null
  const after = content.slice(colon + 1)
  if (after === ' ') return null
  return { key, rest: after.slice(1) }
}

function colonAt(content: string): number {
  const quote = content[0]
  if (quote === '"' || quote === "'") {
    const end = endOfQuotes(content, quote)
    const after = content.charCodeAt(end + 1)
    return content[end] === ':' && (end + 1 === content.length || after === 0x20) ? end : -1
  }
  const colon = content.indexOf(': ')
  return colon === -1 && content.endsWith(':') ? content.length - 1 : colon
}

/** The place after the closing quote; -1 if there is none. */
function endOfQuotes(content: string, quote: string): number {
  for (let at = 1; at < content.length; at++) {
    const c = content[at]
    if (c === '\\' && quote === '"') at++
    else if (c === quote) {
      if (quote === '"' || content[at + 1] !== quote) return at + 1
      at++
    }
  }
  return -1
}

/** The same for texts whose values follow their keys after a space, as in lock files of Yarn. */
export function findSpacedEntry(content: string): Entry | null {
  if (content.startsWith('#')) return null
  if (content.endsWith(':')) return { key: content.slice(0, -1), rest: '' }
  const quote = content[0]
  const end = quote === '"' ? endOfQuotes(content, quote) : content.indexOf(' ')
  if (end <= 0 || content[end] !== ' ' || end + 1 === content.length) return null
  return { key: content.slice(0, end), rest: content.slice(end + 1) }
}
