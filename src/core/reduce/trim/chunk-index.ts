import type { ItemList } from './item-document.ts'
import { KIND_NOUNS } from './kinds.ts'

/**
 * Share of a budget that the items of a later chunk are planned for; the rest is for marker, index
 * and frame.
 */
const FILL = 0.85
/**
 * Approximate tokens of marker, index and frame, and the share of the budget that they take at
 * most.
 */
const BESIDE = 48
const BESIDE_SHARE = 0.5

/**
 * All items in chunks, each item in exactly one: the first has what a strategy chose, the others
 * the rest in order, as many as fit the budget by their prices in full. An item that is larger than
 * that is a chunk by itself. O(items)
 * @param tokens of each item
 * @param first items of the first chunk, in order; there may be none
 * @param budget tokens of one chunk
 * @returns items by chunk, each list in order; none but the first is empty
 */
export function chunkItems(
  tokens: readonly number[],
  first: readonly number[],
  budget: number,
): readonly (readonly number[])[] {
  const room = Math.max(1, (budget - Math.min(BESIDE, budget * BESIDE_SHARE)) * FILL)
  const chunks: (readonly number[])[] = [first]
  const isFirst = new Uint8Array(tokens.length)
  for (const item of first) isFirst[item] = 1
  let chunk: number[] = []
  let cost = 0
  tokens.forEach((own, item) => {
    if (isFirst[item] === 1) return
    if (chunk.length > 0 && cost + own > room) {
      chunks.push(chunk)
      chunk = []
      cost = 0
    }
    chunk.push(item)
    cost += own
  })
  if (chunk.length > 0) chunks.push(chunk)
  return chunks
}

/** How a content is divided into chunks, and the chunk that is returned. */
export interface Division {
  readonly list: ItemList
  /** Items by chunk; see `chunkItems`. */
  readonly chunks: readonly (readonly number[])[]
  /** The chunk that is returned, from 0. */
  readonly returned: number
}

const OPEN = '[chunks] '
const CLOSE =
  '[/chunks] Use `chunk: N` parameter to fetch a specific chunk. You may not need all chunks.'
/** Chunks that are listed if not all of them can be. */
const FEW = 3

/**
 * The chunk index (SOURCES.md#trim, "Chunk Index Format"), the fullest first: every chunk with its
 * summary, every chunk without it, only the nearest chunks, only their number. A chunk that was
 * requested by its number lists only itself.
 */
export function* chunkIndexes(division: Division): Generator<string> {
  const { chunks, returned, list } = division
  const total = list.tokens.length
  const head =
    `${OPEN}${chunks[returned]!.length}/${total} ${KIND_NOUNS[list.kind]} ` +
    `in ${chunks.length} chunks:`
  const all = returned === 0 ? chunks.map((_, at) => at) : [returned]
  const write = (entries: readonly string[]): string => [head, ...entries, CLOSE].join('\n')
  yield write(all.map(at => entry(division, at, true)))
  yield write(all.map(at => entry(division, at, false)))
  if (all.length > FEW) {
    const near = all.slice(0, FEW).map(at => entry(division, at, false))
    yield write([...near, `  chunks ${FEW + 1}-${chunks.length}`])
  }
  yield write([])
}

/** `  chunk 2 (offset=15, limit=15): src/* — 15 files, +340/-12` */
function entry({ list, chunks, returned }: Division, at: number, summarized: boolean): string {
  const items = chunks[at]!
  const summary = summarized && items.length > 0 ? `: ${list.summarize(items)}` : ''
  const mark = at === returned ? ' << returned in this response' : ''
  return `  chunk ${at + 1} (${placeOf(items)})${summary}${mark}`
}

/**
 * The place of the items, in the form of `offset` and `limit`; for items that do not follow one
 * another the first and the last.
 */
function placeOf(items: readonly number[]): string {
  const run = runOf(items)
  if (run !== null) return `offset=${run.offset}, limit=${run.limit}`
  return `${items.length} within offset ${items[0]}-${items.at(-1)}`
}

/** The items as a run; `null` if they are none. */
export function runOf(items: readonly number[]): { offset: number; limit: number } | null {
  const [offset = 0] = items
  const isRun = (items.at(-1) ?? -1) - offset + 1 === items.length
  return isRun ? { offset, limit: items.length } : null
}

/** Items as half-open ranges, for programs. */
export function rangesOf(items: readonly number[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const item of items) {
    const last = ranges.at(-1)
    if (last?.[1] === item) last[1]++
    else ranges.push([item, item + 1])
  }
  return ranges
}

/** A text without the index at its end, if it has one. */
export function withoutChunkIndex(text: string): string {
  if (!text.endsWith(`\n${CLOSE}`)) return text
  const start = text.lastIndexOf(`\n${OPEN}`)
  return start === -1 ? text : text.slice(0, start)
}
