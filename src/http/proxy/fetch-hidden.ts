import { AppError } from '../../core/base/errors.ts'
import { toText } from '../../core/base/text-bytes.ts'
import {
  type LineRun,
  linesNotShown,
  type MarkedText,
  markedTexts,
  nameOfMarked,
} from '../../core/conversation/retrieve/not-shown.ts'
import { countLines } from '../../core/parts/lines.ts'
import { type SearchedText, searchWords } from '../../core/parts/search-words.ts'
import type { Originals } from '../../store/originals.ts'

/** Whose originals, and the request as it was sent. */
export interface HiddenIn {
  readonly tenant: string
  readonly body: Uint8Array
}

/** The bounds of one answer. */
const MAX_LINES = 2_000
const MAX_TEXT_BYTES = 80_000
/** Originals that are searched, in bytes. */
const MAX_SEARCHED_BYTES = 8 * 1024 * 1024

/**
 * The lines of an original that its request does not show, with their numbers. Returns `null` if
 * the request shows no line of it, so that all of it is meant.
 * @throws AppError if it is not kept
 */
export async function fetchNotShown(
  hash: string,
  { tenant, body }: HiddenIn,
  originals: Pick<Originals, 'fetchPart'>,
): Promise<string | null> {
  const marked = find(markedTexts(body), each => each.hash === hash)
  const runs = marked && linesNotShown(marked)
  if (!runs) return null
  const pieces: string[] = []
  let [lines, bytes] = [0, 0]
  for (const range of runs) {
    const { part, media_type } = await originals.fetchPart(
      { tenant, ref: hash },
      { kind: 'lines', range },
    )
    lines += countLines(part.content)
    bytes += part.content.length
    const isTooMuch = lines > MAX_LINES || bytes > MAX_TEXT_BYTES
    if (isTooMuch && pieces.length === 0) return null
    if (isTooMuch) return `${pieces.join('\n')}\n(the next are lines ${nameOf(range)})`
    const text = toText({ bytes: part.content, media_type })
    pieces.push(`lines ${nameOf(range)}:\n${text.replace(/\n$/, '')}`)
  }
  return pieces.join('\n')
}

function nameOf({ first, last }: LineRun): string {
  return `${first}-${last}`
}

/**
 * Lines with the words of a query, of the originals that markers in the request name, or of one.
 * @param hash of the one; absent: all of them, the newest 8 MB
 */
export async function searchHidden(
  query: string,
  hash: string | undefined,
  { tenant, body }: HiddenIn,
  originals: Pick<Originals, 'fetch'>,
): Promise<string> {
  const named = hash === undefined ? markedTexts(body) : [{ hash, text: '' }]
  const texts: SearchedText[] = []
  let bytes = 0
  for (const marked of named) {
    const text = await originalOf(marked, tenant, originals)
    if (text === null) continue
    bytes += text.length
    if (bytes > MAX_SEARCHED_BYTES && texts.length > 0) break
    texts.unshift({ name: nameOfMarked(marked), text })
  }
  return searchWords(texts, query)
}

/** The original's text; `null` if it is not there any more. */
async function originalOf(
  { hash }: MarkedText,
  tenant: string,
  originals: Pick<Originals, 'fetch'>,
): Promise<string | null> {
  try {
    const { body, media_type } = await originals.fetch({ tenant, ref: hash }, () => {})
    return toText({ bytes: body, media_type })
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function find<T>(all: Iterable<T>, isIt: (each: T) => boolean): T | undefined {
  for (const each of all) if (isIt(each)) return each
  return undefined
}
