import { items, itemsOf, type JsonBytes, RANGE } from '../../core/json/bytes/json-node.ts'
import { skipSpace } from '../../core/json/bytes/json-tokens.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { OPEN_BRACKET } from '../../core/json/char-codes.ts'

/** Messages of one batch. */
const MAX_BATCH = 100

/** Levels of nesting that a message may have. */
const MAX_DEPTH = 10_000

/** Whether a body is an array: a batch of the revision 2025-03-26. */
export function isBatch(body: JsonBytes): boolean {
  return body[skipSpace(body, 0)] === OPEN_BRACKET
}

/** The messages of a batch; `null` if they cannot be read, or are too many, or none. */
export function batchItems(body: JsonBytes): readonly JsonBytes[] | null {
  const limits = { maxBytes: body.length, maxDepth: MAX_DEPTH, maxValues: 2 * MAX_BATCH }
  const root = readJson(body, items(RANGE), limits)
  if (root === null) return null
  const found = itemsOf(root).map(({ start, end }) => body.subarray(start, end))
  return found.length === 0 || found.length > MAX_BATCH ? null : found
}
