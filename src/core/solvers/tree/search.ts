import { createHistory, type History } from '../shared/history.ts'
import { Incumbent } from '../shared/incumbent.ts'
import type { Lattice } from '../shared/lattice.ts'
import { AS_BEFORE, type States } from '../shared/states.ts'
import type { Forest } from './forest.ts'
import { type Priced, takeRest } from './lagrangian.ts'
import { type Coming, createLists, thin } from './lists.ts'

/** Nodes of the history beyond which it is compacted before it grows. */
const COMPACT_FROM = 2 ** 16

export interface SearchOptions {
  /** Stop before more states than this were generated. */
  readonly maxWork: number
  /**
   * Stop as well if the share of the work done exceeds the share of the nodes done by more than
   * this, because then the work will not be enough. 1 for no such limit.
   */
  readonly lead: number
  /**
   * Most states that are kept at a node. If states were dropped for this, the result is not proven.
   */
  readonly width: number
}

/** What a search found; values in units above the forest's base. */
export interface Found {
  /** By node of the forest: the best solution, if it is better than what was known. */
  readonly taken: Uint8Array | null
  readonly value: number
  /** No solution has a higher value, unless states were dropped for the width. */
  readonly bound: number
  /** Whether no better solution is possible. False if states were dropped for the width. */
  readonly isComplete: boolean
  /** States generated. */
  readonly work: number
}

/** A list whose states left out a subtree, waiting for the node after that subtree. */
interface SkippedStates {
  readonly at: number
  states: States
}

/**
 * The depth-first dynamic program (Johnson and Niemi 1983; Cho and Shaw 1997): a state at a node
 * has decided all nodes before it and has its parent; taking the node leads to the next one,
 * leaving it to the end of its subtree. At each node, a state is dropped if another one leaves more
 * and has a higher value, or if its bound does not reach the needed value. Every list is completed
 * with the nodes that the relaxation takes of the rest. @param prices the first is the
 * relaxation's, for bounds; all are used for completions
 * @param best units that are known to be reached
 */
export function search(
  forest: Forest,
  prices: readonly [Priced, ...Priced[]],
  lattice: Lattice,
  best: number,
  { maxWork, lead, width }: SearchOptions,
): Found {
  const { size, end } = forest
  const [main] = prices
  const history = createHistory(64)
  const completion = createCompletion(forest, history, prices, lattice, best)
  const { incumbent } = completion
  const lists = createLists(forest, history, main, incumbent)
  // The last is the nearest; no two are at one node.
  const waiting: SkippedStates[] = []
  let current = lists.start()
  let at = 0
  let work = 0
  let isThinned = false
  let compactFrom = COMPACT_FROM

  function join(coming: readonly Coming[], place: number): States {
    for (const { states } of coming) work += states.count
    const joined = lists.join(coming, place)
    completion.complete(joined, place)
    if (joined.count > width) {
      thin(joined, width, main.price)
      isThinned = true
    }
    return joined
  }

  /** What waits at a node, taken off. */
  function arriving(place: number): Coming[] {
    if (waiting.at(-1)?.at !== place) return []
    return [{ states: waiting.pop()!.states, take: AS_BEFORE }]
  }

  /** Decides the node `at` for all states that came to it. */
  function step(): void {
    const after = end[at]!
    const leaving = [{ states: current, take: AS_BEFORE }, ...arriving(after)]
    const taking = { states: current, take: at }
    if (after === at + 1) {
      const joined = join([taking, ...leaving], after)
      for (const { states } of leaving) lists.release(states)
      current = joined
    } else {
      const inside = join([taking], at + 1)
      const isAlone = leaving.length === 1
      waiting.push({ at: after, states: isAlone ? current : join(leaving, after) })
      if (!isAlone) for (const { states } of leaving) lists.release(states)
      current = inside
    }
    at++
  }

  function compact(): void {
    if (history.size <= compactFrom) return
    const live = [current, ...waiting.map(({ states }) => states)]
    const nodes = live.map(({ node, count }) => node.subarray(0, count))
    history.compact([...nodes, incumbent.nodes])
    compactFrom = Math.max(COMPACT_FROM, 2 * history.size)
  }

  completion.complete(current, 0)
  while (at < size) {
    if (current.count === 0) {
      // No state is left here, so the search goes to the nearest node at which a list waits.
      const next = waiting.pop()
      if (next === undefined) break
      lists.release(current)
      ;({ at, states: current } = next)
      continue
    }
    const arrivals = waiting.at(-1)?.at === end[at] ? waiting.at(-1)!.states.count : 0
    if (work + 2 * current.count + arrivals > maxWork * Math.min(1, lead + at / size)) break
    step()
    compact()
  }
  const isDone = at >= size || current.count === 0
  let bound = incumbent.value + lattice.tolerance
  if (!isDone) {
    for (const each of [{ at, states: current }, ...waiting]) {
      bound = Math.max(bound, lists.bestBound(each.states, each.at))
    }
  }
  return {
    taken: completion.taken(),
    value: incumbent.value,
    bound,
    isComplete: isDone && !isThinned,
    work,
  }
}

/** Completes states with the nodes that the relaxation at a price takes from their node on. */
export interface Completion {
  /** The best completed solution so far; its first node is that of its state. */
  readonly incumbent: Incumbent
  /** Completes all states at a node of the forest at every price, and keeps the best. */
  complete(states: States, at: number): void
  /**
   * By node of the forest, what the solution takes. Returns `null` if no solution is better than
   * the one that was known.
   */
  taken(): Uint8Array | null
}

/** @param best units that are known to be reached */
function createCompletion(
  forest: Forest,
  history: History,
  prices: readonly Priced[],
  lattice: Lattice,
  best: number,
): Completion {
  const incumbent = new Incumbent(lattice, best)
  let from = -1
  let by: Priced | undefined

  return {
    incumbent,
    complete(states, at) {
      for (const price of prices) {
        const last = lastLeaving(states, price.restCost[at]!)
        if (last === -1) continue
        const total = states.value[last]! + price.restValue[at]!
        if (total <= incumbent.value) continue
        incumbent.improve(total, states.node[last]!)
        from = at
        by = price
      }
    },
    taken() {
      if (by === undefined) return null
      const taken = new Uint8Array(forest.size)
      for (const node of history.trace(incumbent.nodes[0]!)) taken[node] = 1
      takeRest(forest, by, from, node => {
        taken[node] = 1
      })
      return taken
    },
  }
}

/** The last state, and so the most valuable, that leaves at least so much; -1 if none does. */
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
