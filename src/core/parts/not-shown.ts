import { parseHint } from '../hints/hint-line.ts'
import { type ItemRun, itemsMissingIn } from './missing-items.ts'

/** A run of lines, named as marks name it. */
export interface LineRun {
  readonly first: number
  readonly last: number
}

/** A string of a request that ends with a marker. */
interface MarkedText {
  readonly hash: string
  readonly text: string
}

/** What a text with a marker does not show. */
export interface NotShown {
  readonly hash: string
  /** What the marker says of the call whose result it replaces; the hash if it says nothing. */
  readonly name: string
  /** Neither: all of it is meant, or the text does not say all that is missing. */
  readonly lines?: readonly LineRun[]
  readonly items?: readonly ItemRun[]
}

/** What the texts with markers in a body do not show, the newest first. */
export function* notShownIn(body: Uint8Array): Generator<NotShown> {
  for (const marked of markedTexts(body)) yield missingFrom(marked)
}

/** As parts of its original are asked for. */
function missingFrom(marked: MarkedText): NotShown {
  const lines = linesNotShown(marked)
  const items = lines === null ? itemsNotShown(marked) : null
  return {
    hash: marked.hash,
    name: nameOfMarked(marked),
    ...(lines !== null && { lines }),
    ...(items !== null && { items }),
  }
}

/** A mark of lines that are missing. That of a diff's view names the lines that are there. */
const MARK = /^\[… lines? (\d+)(?:-(\d+))?(?! with context)(?:[, ][^\n]*)?\]$/gm

/**
 * The lines that a text with marks does not show. Returns `null` if it has none, as a stub, or if
 * they do not say all that is missing.
 */
function linesNotShown(marked: MarkedText): readonly LineRun[] | null {
  const { text } = marked
  const marker = markerOf(text)
  const runs = [...text.matchAll(MARK)].map(([, first, last = first]) => {
    return { first: Number(first), last: Number(last) }
  })
  const isOfLines = marker?.parts.length === 1 && marker.parts[0]?.unit === 'lines'
  if (!isOfLines) return null
  if (runs.length === 0) return linesOfTable(marked)
  const isInOrder = runs.every(({ first, last }, at) => {
    return first <= last && first > (runs[at - 1]?.last ?? 0)
  })
  return isInOrder ? runs : null
}

/** JSON lines may be a table: its rows are lines. */
function linesOfTable(marked: MarkedText): readonly LineRun[] | null {
  const items = itemsNotShown(marked)
  if (items === null || items.some(({ list }) => list !== '$')) return null
  return items.map(({ from, end }) => ({ first: from + 1, last: end }))
}

/** The items that a text does not show; `null` if its gaps do not say all that is missing. */
function itemsNotShown({ text }: MarkedText): readonly ItemRun[] | null {
  const [part, ...others] = markerOf(text)?.parts ?? []
  const items = itemsMissingIn(text.split('\n'))
  if (part === undefined || others.length > 0 || items === null || items.length === 0) return null
  const missing = items.reduce((sum, { from, end }) => sum + end - from, 0)
  return missing === part.omitted ? items : null
}

/** What the marker says of the call whose result it replaces; the hash if it says nothing. */
function nameOfMarked({ hash, text }: MarkedText): string {
  const summary = markerOf(text)?.summary
  if (summary === undefined) return hash
  const shown = typeof summary === 'string' ? summary : Object.values(summary).join('')
  return `${shown} (hash ${hash})`
}

function markerOf(text: string) {
  const hint = parseHint(text.slice(text.lastIndexOf('\n') + 1))
  return hint?.family === 'elision' ? hint : undefined
}

const MARKER_END = /hash=([0-9a-f]{24})\]"/g
const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * The strings of a request that end with markers, each original once, the newest first. Linear in
 * the body, and reads no more of it than its caller takes.
 * @param body a JSON text as it was sent
 */
function* markedTexts(body: Uint8Array): Generator<MarkedText> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const seen = new Set<string>()
  for (const match of [...bytes.toString('latin1').matchAll(MARKER_END)].reverse()) {
    const [ending, hash = ''] = match
    const text = seen.has(hash) ? null : stringWithin(bytes, match.index + ending.length)
    if (text === null) continue
    seen.add(hash)
    yield { hash, text }
  }
}

/** The JSON string whose closing quote is before an offset; `null` if there is none. */
function stringWithin(bytes: Buffer, end: number): string | null {
  let start = end - 1
  do start = bytes.lastIndexOf(QUOTE, start - 1)
  while (start > 0 && isEscaped(bytes, start))
  if (start <= 0) return null
  try {
    const text: unknown = JSON.parse(bytes.toString('utf8', start, end))
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let slashes = 0
  while (bytes[at - 1 - slashes] === BACKSLASH) slashes++
  return slashes % 2 === 1
}
