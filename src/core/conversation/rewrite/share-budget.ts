/**
 * Decides how many tokens each text may have so that all fit. All get the same allowance, and what
 * a text does not need goes to the others: the highest level with `Σ min(size, level) ≤ room`
 * (max-min fairness; Bertsekas and Gallager, "Data Networks", 6.5.2). So small texts stay whole,
 * and only the largest are cut.
 * @param sizes tokens of each text
 * @returns the level, a whole number; `Infinity` if all fit
 */
export function fairLevel(sizes: readonly number[], room: number): number {
  const ascending = Float64Array.from(sizes).sort()
  let left = room
  for (const [index, size] of ascending.entries()) {
    const level = Math.floor(left / (ascending.length - index))
    if (size > level) return Math.max(0, level)
    left -= size
  }
  return Number.POSITIVE_INFINITY
}

/**
 * Cuts texts to their allowances from the first to the last. What one leaves of its allowance, or
 * takes beyond it because nothing of it is so small, is added to that of the next that is above it,
 * so that the last texts keep most.
 * @param sizes tokens of each text
 * @param cut cuts the text at an index to so many tokens, and returns the tokens that it has then
 */
export function cutToFit(
  sizes: readonly number[],
  room: number,
  cut: (index: number, tokens: number) => number,
): void {
  const level = fairLevel(sizes, room)
  if (level === Number.POSITIVE_INFINITY) return
  const planned = sizes.reduce((sum, size) => sum + Math.min(size, level), 0)
  let spare = room - planned
  for (const [index, size] of sizes.entries()) {
    if (size <= level) continue
    const allowance = Math.max(0, level + spare)
    if (size > allowance) spare += level - cut(index, allowance)
    else spare += level - size
  }
}
