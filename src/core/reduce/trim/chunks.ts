/**
 * Share of a budget that the items of a later chunk are planned for; the rest is for marker, index
 * and frame.
 */
const FILL = 0.85
/** Tokens of these beside the items, about, and the share of the budget that they take at most. */
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
