import { AppError } from '../../core/base/errors.ts'
import { toText } from '../../core/base/text-bytes.ts'
import { countLines } from '../../core/parts/lines.ts'
import type { ItemRun } from '../../core/parts/missing-items.ts'
import type { LineRun, NotShown } from '../../core/parts/not-shown.ts'
import { parsePart } from '../../core/parts/parse-part.ts'
import type { PartSelector } from '../../core/parts/part.ts'
import { type SearchedText, searchWords } from '../../core/parts/search-words.ts'
import type { Originals } from '../../store/originals.ts'
import type { StoredPart } from '../../store/store.ts'

/** The bounds of one answer. */
const MAX_LINES = 2_000
const MAX_TEXT_BYTES = 80_000
/** Originals that are searched, in bytes. */
const MAX_SEARCHED_BYTES = 8 * 1024 * 1024

/** Fetches a part of one original. */
type FetchPart = (selector: PartSelector) => Promise<StoredPart>

/**
 * The parts of an original that its reader was not shown, named as marks and paths name them.
 * Items are JSON: a member for each run, which a format writes as a table.
 * @returns texts; `null` if nothing says what is missing, so that all of it is meant
 * @throws AppError if it is not kept
 */
export async function fetchNotShown(
  { hash, lines, items }: NotShown,
  tenant: string,
  originals: Pick<Originals, 'fetchPart'>,
): Promise<readonly string[] | null> {
  const fetchPart: FetchPart = selector => originals.fetchPart({ tenant, ref: hash }, selector)
  if (lines !== undefined) return fetchLines(lines, fetchPart)
  return items === undefined ? null : fetchItems(items, fetchPart)
}

async function fetchLines(
  runs: readonly LineRun[],
  fetchPart: FetchPart,
): Promise<readonly string[] | null> {
  const room = createRoom()
  const pieces: string[] = []
  for (const range of runs) {
    const { part, media_type } = await fetchPart({ kind: 'lines', range })
    const name = `${range.first}-${range.last}`
    if (!room.takes(part.content)) {
      return pieces.length === 0 ? null : [...pieces, `(the next are lines ${name})`]
    }
    const text = toText({ bytes: part.content, media_type })
    pieces.push(`lines ${name}:\n${text.replace(/\n$/, '')}`)
  }
  return [pieces.join('\n')]
}

async function fetchItems(
  runs: readonly ItemRun[],
  fetchPart: FetchPart,
): Promise<readonly string[] | null> {
  const room = createRoom()
  const members: string[] = []
  const written = () => `{${members.join(',')}}`
  for (const { list, from, end } of runs) {
    const path = `${list}[${from}:${end}]`
    const found = await itemsAt(path, fetchPart)
    // The keys that are shown do not lead there.
    if (found?.values !== end - from) return null
    if (!room.takes(found.content)) {
      return members.length === 0 ? null : [written(), `(the next are ${path})`]
    }
    members.push(`${JSON.stringify(path)}:${Buffer.from(found.content)}`)
  }
  return [written()]
}

async function itemsAt(path: string, fetchPart: FetchPart) {
  try {
    const { part } = await fetchPart(parsePart({ path })!)
    return part.kind === 'path' ? part : null
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return null
    throw error
  }
}

/** Room for the parts of one answer. */
function createRoom() {
  let [lines, bytes] = [0, 0]
  return {
    takes(content: Uint8Array): boolean {
      lines += countLines(content)
      bytes += content.length
      return lines <= MAX_LINES && bytes <= MAX_TEXT_BYTES
    },
  }
}

/**
 * Lines with the words of a query, of originals of which a conversation has markers.
 * @param named the newest first; the newest 8 MB are searched
 */
export async function searchHidden(
  query: string,
  named: Iterable<Pick<NotShown, 'hash' | 'name'>>,
  tenant: string,
  originals: Pick<Originals, 'fetch'>,
): Promise<string> {
  const texts: SearchedText[] = []
  let bytes = 0
  for (const { hash, name } of named) {
    const text = await originalOf(hash, tenant, originals)
    if (text === null) continue
    bytes += text.length
    if (bytes > MAX_SEARCHED_BYTES && texts.length > 0) break
    texts.unshift({ name, text })
  }
  return searchWords(texts, query)
}

/** The original's text; `null` if it is not there any more. */
async function originalOf(
  hash: string,
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
