import { createHistory, ROOT } from '../../knapsack/history.ts'
import { type Lattice, neededFor } from '../../knapsack/lattice.ts'
import {
  AS_BEFORE,
  createStates,
  mergeRuns,
  reserve,
  type States,
  shift,
} from '../../knapsack/states.ts'
import type { Forest } from './forest.ts'
import { type Priced, slackOf, takeRest } from './lagrangian.ts'

/** Nodes of the history beyond which it is compacted before it grows. */
const COMPACT_FROM = 2 ** 20

export interface SearchOptions {
  /** Stop before more states than this were generated. */
  readonly maxWork: number
  /** Most states that are kept at a node; with less than all, the result is no proof. */
  readonly width: number
}

/** What a search found; values in units above the forest's base. */
export interface Found {
  /** The best solution, if it is better than what was known. */
  readonly taken: Uint8Array | null
  readonly value: number
  /** No solution is worth more, unless states were dropped for the width. */
  readonly bound: number
  readonly isComplete: boolean
  readonly work: number
}

/** Lists of states that wait for the end of a subtree, the last the nearest. */
interface Waiting {
  readonly at: number
  states: States
}

/**
 * The depth-first dynamic program (Johnson and Niemi 1983; Cho and Shaw 1997): a state at a node has decided all nodes
 * before it and has its parent; taking it leads to the next node, leaving it to the end of its subtree. Of states
 * at one node, none that leaves less and is worth less than another is kept, nor one whose bound does not
 * reach what is needed. Each state is completed with what the relaxation takes of the rest, as far as it fits.
 * @param prices the first is the relaxation's; all are used for completions
 * @param best units that the best solution so far is worth
 */
export function search(
  forest: Forest,
  prices: readonly Priced[],
  lattice: Lattice,
  best: number,
  { maxWork, width }: SearchOptions,
): Found {
  const { size, end, cost, value } = forest
  const main = prices[0]!
  const history = createHistory(64)
  const pool: States[] = []
  const waiting: Waiting[] = []
  let [spare, other] = [createStates(64), createStates(64)]
  let current = createStates(64)
  let needed = neededFor(best, lattice)
  let isThinned = false
  let work = 0
  let compactFrom = COMPACT_FROM
  const slack = slackOf(forest, main.price)
  // The best solution: a node of the history, and what is taken from which node on.
  const found = new Int32Array([ROOT])
  let from = -1
  let by = main

  function limitsAt(at: number) {
    return {
      gainPerStep: main.price,
      lossPerStep: main.price,
      slack: 0,
      needed: needed - slack - main.rest[at]!,
      lowest: 0,
    }
  }

  /** The most valuable state that leaves as much as the rest costs is the last one that does. */
  function complete(states: States, at: number): void {
    for (const each of prices) {
      const last = lastLeaving(states, each.restCost[at]!)
      if (last === -1) continue
      const total = states.value[last]! + each.restValue[at]!
      if (total <= best) continue
      best = total
      needed = neededFor(best, lattice)
      found[0] = states.node[last]!
      from = at
      by = each
    }
  }

  /** Brings runs of states at one node together. */
  function join(ends: readonly number[], at: number): States {
    const merged = mergeRuns(spare, ends, other)
    const result = merged
    if (merged === spare) spare = pool.pop() ?? createStates(64)
    else other = pool.pop() ?? createStates(64)
    for (let s = 0; s < result.count; s++) {
      if (result.option[s] !== AS_BEFORE) {
        result.node[s] = history.add(result.node[s]!, result.option[s]!)
      }
    }
    complete(result, at)
    if (result.count > width) {
      thin(result, width, main.price)
      isThinned = true
    }
    return result
  }

  function append(states: States, at: number, option: number): number {
    const pick =
      option === AS_BEFORE ? STAY : { cost: cost[option]!, value: value[option]!, option }
    shift(states, spare, pick, limitsAt(at))
    return spare.count
  }

  function begin(room: number): void {
    reserve(spare, room)
    reserve(other, room)
    spare.count = 0
    work += room
  }

  function compact(): void {
    if (history.size <= compactFrom) return
    const live = [current, ...waiting.map(({ states }) => states)]
    history.compact([...live.map(({ node, count }) => node.subarray(0, count)), found])
    compactFrom = Math.max(COMPACT_FROM, 2 * history.size)
  }

  function bestBound(at: number): number {
    let bound = best
    for (const { at: place, states } of [{ at, states: current }, ...waiting]) {
      const { left, value: worth, count } = states
      for (let s = 0; s < count; s++) {
        bound = Math.max(bound, worth[s]! + left[s]! * main.price + main.rest[place]! + slack)
      }
    }
    return bound
  }

  current.left[0] = forest.budget
  current.value[0] = 0
  current.node[0] = ROOT
  current.count = 1
  complete(current, 0)
  let i = 0
  while (i < size) {
    if (current.count === 0) {
      // Nothing came here: on to the nearest place where something waits.
      const next = waiting.pop()
      if (next === undefined) break
      pool.push(current)
      current = next.states
      i = next.at
      continue
    }
    const after = end[i]!
    const top = waiting.at(-1)
    const others = top?.at === after ? top.states.count : 0
    if (work + 2 * current.count + others > maxWork) break
    if (after === i + 1) {
      begin(2 * current.count + others)
      const ends = [append(current, after, AS_BEFORE), append(current, after, i)]
      if (top?.at === after) {
        ends.push(append(top.states, after, AS_BEFORE))
        pool.push(top.states)
        waiting.pop()
      }
      const merged = join(ends, after)
      pool.push(current)
      current = merged
    } else {
      begin(current.count)
      const inner = join([append(current, i + 1, i)], i + 1)
      if (top?.at === after) {
        begin(current.count + others)
        const ends = [append(current, after, AS_BEFORE), append(top.states, after, AS_BEFORE)]
        pool.push(top.states, current)
        top.states = join(ends, after)
      } else waiting.push({ at: after, states: current })
      current = inner
    }
    i++
    compact()
  }
  const isComplete = i >= size || (current.count === 0 && waiting.length === 0)
  const bound = isComplete ? best + lattice.tolerance : bestBound(i) + lattice.tolerance
  return { taken: solution(), value: best, bound, isComplete: isComplete && !isThinned, work }

  function solution(): Uint8Array | null {
    if (from === -1) return null
    const taken = new Uint8Array(size)
    for (const node of history.trace(found[0]!)) taken[node] = 1
    takeRest(forest, by, from, node => {
      taken[node] = 1
    })
    return taken
  }
}

const STAY = { cost: 0, value: 0, option: AS_BEFORE } as const

function lastLeaving({ left, count }: States, least: number): number {
  let from = -1
  let to = count
  while (to - from > 1) {
    const middle = (from + to) >> 1
    if (left[middle]! >= least) from = middle
    else to = middle
  }
  return from
}

/** Keeps the `width` states with the best bounds, in their order. */
function thin(states: States, width: number, price: number): void {
  const { left, value, node, count } = states
  const bounds = Float64Array.from({ length: count }, (_, s) => value[s]! + left[s]! * price)
  const least = bounds.slice().sort()[count - width]!
  let kept = 0
  for (let s = 0; s < count && kept < width; s++) {
    if (bounds[s]! < least) continue
    left[kept] = left[s]!
    value[kept] = value[s]!
    node[kept++] = node[s]!
  }
  states.count = kept
}
