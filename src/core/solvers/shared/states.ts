/**
 * States of the dynamic program, by falling budget and rising value. A state that leaves less than
 * another has a higher value. 24 bytes a state.
 */
export interface States {
  /** Budget that is left, in steps; negative if more than the budget is used so far. */
  left: Float64Array
  /** Units above the break solution. */
  value: Float64Array
  /** Node of the history before the last class. */
  node: Int32Array
  /** Option that the last class picks, or `AS_BEFORE`. */
  option: Int32Array
  count: number
}

/** The limits that decide whether a state can still become a better solution. */
export interface Limits {
  /** Units that a step of budget left can bring at most. */
  readonly gainPerStep: number
  /** Units that a step of budget used too much loses at least. */
  readonly lossPerStep: number
  /** Units that bounds are raised by. */
  readonly slack: number
  /** What a bound, without the slack, must reach. */
  readonly needed: number
  /**
   * Least budget left that a state may have, in steps, because the other classes cannot free more
   * than their whole cost.
   */
  readonly lowest: number
}

/** A pick that is the break solution's, and needs no node in the history. */
export const AS_BEFORE = -1

/** Room for `capacity` states. */
export function createStates(capacity: number): States {
  return {
    left: new Float64Array(capacity),
    value: new Float64Array(capacity),
    node: new Int32Array(capacity),
    option: new Int32Array(capacity),
    count: 0,
  }
}

/** Makes room for `capacity` states, up to the next power of two; what was in them is lost. */
export function reserve(states: States, capacity: number): void {
  if (states.left.length >= capacity) return
  Object.assign(states, createStates(2 ** Math.ceil(Math.log2(capacity))))
}

/**
 * Appends `from`'s states with one more pick to `to`, without those that cannot become a better
 * solution.
 * @param cost steps and @param value units that the pick differs by from the break solution's
 */
export function shift(
  from: States,
  to: States,
  { cost, value, option }: { cost: number; value: number; option: number },
  { gainPerStep, lossPerStep, needed, lowest }: Limits,
): void {
  const { left: oldLeft, value: oldValue, node: oldNode, count: length } = from
  const { left: newLeft, value: newValue, node: newNode, option: newOption } = to
  let { count } = to
  for (let s = 0; s < length; s++) {
    const left = oldLeft[s]! - cost
    if (left < lowest) break
    const total = oldValue[s]! + value
    if (total + left * (left >= 0 ? gainPerStep : lossPerStep) < needed) continue
    newLeft[count] = left
    newValue[count] = total
    newNode[count] = oldNode[s]!
    newOption[count++] = option
  }
  to.count = count
}

/** Appends the union of two ranges of `from` to `to`, without dominated states. */
function mergeTwo(from: States, start: number, middle: number, end: number, to: States): void {
  const { left, value, node, option } = from
  const { left: newLeft, value: newValue, node: newNode, option: newOption } = to
  let { count } = to
  let a = start
  let b = middle
  let best = -Infinity
  while (a < middle || b < end) {
    const isFirst =
      b === end ||
      (a < middle && (left[a]! > left[b]! || (left[a] === left[b] && value[a]! >= value[b]!)))
    const s = isFirst ? a++ : b++
    const total = value[s]!
    if (total <= best) continue
    best = total
    newLeft[count] = left[s]!
    newValue[count] = total
    newNode[count] = node[s]!
    newOption[count++] = option[s]!
  }
  to.count = count
}

/**
 * Merges runs of states to one, two by two.
 * @param from runs one after another; `ends`, the end of each
 * @param spare room for as many states
 * @returns the one of both that holds the result
 */
export function mergeRuns(from: States, ends: readonly number[], spare: States): States {
  let [source, target] = [from, spare]
  let runs = ends
  while (runs.length > 1) {
    const merged: number[] = []
    target.count = 0
    for (let run = 0; run < runs.length; run += 2) {
      const start = run === 0 ? 0 : runs[run - 1]!
      const middle = runs[run]!
      mergeTwo(source, start, middle, runs[run + 1] ?? middle, target)
      merged.push(target.count)
    }
    runs = merged
    ;[source, target] = [target, source]
  }
  return source
}

/** Upper bound of the value that a state can lead to, in units above the break solution. */
function boundOf({ left, value }: States, s: number, limits: Limits): number {
  const rest = left[s]!
  return value[s]! + rest * (rest >= 0 ? limits.gainPerStep : limits.lossPerStep) + limits.slack
}

/** Upper bound over all states. */
export function bestBound(states: States, limits: Limits): number {
  let bound = -Infinity
  for (let s = 0; s < states.count; s++) bound = Math.max(bound, boundOf(states, s, limits))
  return bound
}

/** The most valuable state within the budget: the last; -1 if there is none. */
export function lastFitting({ left, count }: States): number {
  let from = -1
  let to = count
  while (to - from > 1) {
    const middle = (from + to) >> 1
    if (left[middle]! >= 0) from = middle
    else to = middle
  }
  return from
}
