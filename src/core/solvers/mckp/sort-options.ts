/** Longest range that insertion sort is faster on than making an array of indices. */
const SHORT = 24

/**
 * Sorts `[from, to)` of three parallel arrays by rising cost, then falling value; options that are
 * equal in both keep their order.
 */
export function sortOptions(
  costs: Float64Array,
  values: Float64Array,
  options: Int32Array,
  from: number,
  to: number,
): void {
  if (to - from > SHORT) {
    sortLong(costs, values, options, from, to)
    return
  }
  for (let j = from + 1; j < to; j++) {
    const cost = costs[j]!
    const value = values[j]!
    const option = options[j]!
    let k = j
    for (; k > from; k--) {
      const before = costs[k - 1]!
      if (before < cost || (before === cost && values[k - 1]! >= value)) break
      costs[k] = before
      values[k] = values[k - 1]!
      options[k] = options[k - 1]!
    }
    costs[k] = cost
    values[k] = value
    options[k] = option
  }
}

function sortLong(
  costs: Float64Array,
  values: Float64Array,
  options: Int32Array,
  from: number,
  to: number,
): void {
  const oldCosts = costs.slice(from, to)
  const oldValues = values.slice(from, to)
  const oldOptions = options.slice(from, to)
  const order = Uint32Array.from(oldOptions, (_, j) => j)
  // An ordinary array's sort is stable; that of a typed array is too (ECMAScript 2019).
  order.sort((a, b) => oldCosts[a]! - oldCosts[b]! || oldValues[b]! - oldValues[a]!)
  for (let k = 0; k < order.length; k++) {
    const j = order[k]!
    costs[from + k] = oldCosts[j]!
    values[from + k] = oldValues[j]!
    options[from + k] = oldOptions[j]!
  }
}
