import { createHistory, type History, ROOT } from '../shared/history.ts'
import { Incumbent } from '../shared/incumbent.ts'
import { type Lattice, neededFor, roundBound } from '../shared/lattice.ts'
import { bestBound, lastFitting, type States } from '../shared/states.ts'
import type { Certificate } from './certify.ts'
import { type Core, createCore } from './core.ts'
import { createLayer, type Layer, limitsByPrice, limitsBySlopes } from './layer.ts'
import { createWork, type SolveOptions, type Work } from './problem.ts'
import type { Reduced } from './reduce.ts'
import type { Relaxation } from './relaxation.ts'

/**
 * Most states that one class may generate. A layer holds up to three times as many, at 24 bytes
 * each.
 */
const MAX_WIDTH = 2 ** 21
/** A layer of this many states is paired; the next time there must be twice as many. */
const PAIR_FROM = 2 ** 12
/** Most nodes of the history that lead to a state, at 8 bytes each. */
const MAX_NODES = 2 ** 23
/** Nodes of the history beyond which it is compacted before it grows. */
const COMPACT_FROM = 2 ** 20

/** What a search found; values in units above the break solution. */
export interface Found {
  /** Options that differ from the break solution, as indices into the arrays of `Reduced`. */
  readonly changes: readonly number[]
  /** No solution has a higher value. */
  readonly bound: number
  /** Whether the solution is proven to be the best. */
  readonly complete: boolean
  readonly states: number
}

/**
 * The dynamic program over an expanding core (Pisinger 1995): starts from the break solution, adds
 * one class after the other with all its options, and drops states that are dominated, or whose
 * bound shows that they cannot become better than the best solution so far. If there are many
 * states, they are paired with those of a second layer over other classes: a better solution lets
 * more of them be dropped.
 */
export function search(
  reduced: Reduced,
  relaxation: Relaxation,
  certificate: Certificate,
  lattice: Lattice,
  options: SolveOptions,
): Found {
  const { bound, swapValue } = certificate
  // Often the relaxation proves at once that the break solution is the best.
  if (swapValue === 0 && bound < neededFor(0, lattice)) {
    return { changes: [], bound: lattice.tolerance, complete: true, states: 0 }
  }
  return expandCore(reduced, relaxation, certificate, lattice, options)
}

function expandCore(
  reduced: Reduced,
  relaxation: Relaxation,
  certificate: Certificate,
  lattice: Lattice,
  options: SolveOptions,
): Found {
  const history = createHistory(64)
  const incumbent = startIncumbent(history, lattice, certificate)
  const core = createCore(reduced, relaxation, certificate, incumbent.needed)
  const work = createWork(options)
  const layer = createLayer(reduced, history, relaxation.left)
  const setting = { reduced, relaxation, certificate, history, incumbent, core, work }
  const pairing = createPairing(setting)
  let pairFrom = PAIR_FROM
  let compactFrom = COMPACT_FROM
  let { bound } = certificate

  function compact(): void {
    if (history.size <= compactFrom) return
    const { node, count } = layer.states
    history.compact([node.subarray(0, count), incumbent.nodes])
    compactFrom = Math.max(COMPACT_FROM, 2 * history.size)
  }

  while (bound >= incumbent.needed) {
    if (layer.states.count > pairFrom) {
      pairFrom *= 2
      pairing.tryNext(layer.states)
    }
    const slopes = core.slopes(incumbent.needed)
    const before = () => limitsBySlopes(slopes, incumbent.needed, lattice, reduced)
    const taken = layer.states.count === 0 ? null : core.next(incumbent.needed)
    if (taken === null) {
      bound = incumbent.value
      break
    }
    const width = () => layer.states.count * (taken.others.length + 1)
    while (width() > MAX_WIDTH && pairing.tryNext(layer.states)) {
      layer.prune(before())
      compact()
    }
    if (width() > MAX_WIDTH || history.size > MAX_NODES || !work.allows(width())) {
      bound = Math.min(bound, bestBound(layer.states, before()))
      break
    }
    work.add(width())
    const after = core.slopes(incumbent.needed)
    layer.expand(taken, limitsBySlopes(after, incumbent.needed, lattice, reduced))
    const { value, node } = layer.states
    const fitting = lastFitting(layer.states)
    if (fitting !== -1 && value[fitting]! > incumbent.value) {
      incumbent.improve(value[fitting]!, node[fitting]!)
    }
    compact()
  }
  const complete = bound < incumbent.needed
  const proven = incumbent.value + lattice.tolerance
  return {
    changes: [...incumbent.nodes].flatMap(at => history.trace(at)),
    bound: complete ? proven : Math.max(proven, roundBound(bound, lattice)),
    complete,
    states: work.states,
  }
}

/** The break solution, or the one with a single other option, if that is better. */
function startIncumbent(
  history: History,
  lattice: Lattice,
  { swap, swapValue }: Certificate,
): Incumbent {
  const incumbent = new Incumbent(lattice, swapValue)
  if (swap !== -1) incumbent.improve(swapValue, history.add(ROOT, swap))
  return incumbent
}

/** Smallest width that a partner may have, so that small layers find useful partners. */
const MIN_WIDTH = 2 ** 13

/** Looks for better solutions in pairs of states over different classes. */
interface Pairing {
  /**
   * Pairs a layer's states with those of a partner over the next classes outside of the core.
   * `false` if there is nothing left to try: all classes had their turn since the last better
   * solution, or no work is left.
   */
  tryNext(states: States): boolean
}

/** The parts of a search that pairing uses. */
interface Setting {
  readonly reduced: Reduced
  readonly relaxation: Relaxation
  readonly certificate: Certificate
  readonly history: History
  readonly incumbent: Incumbent
  readonly core: Core
  readonly work: Work
}

/** The partner's states are valid only within one call of `tryNext`. */
function createPairing(setting: Setting): Pairing {
  const { reduced, relaxation, certificate, history, incumbent, core, work } = setting
  let partner: Layer | undefined
  let isImproved = true
  let isExhausted = false

  /** Adds classes to the partner until it is about as wide as the layer that it is for. */
  function grow(partner: Layer, room: number): void {
    partner.reset()
    for (;;) {
      const taken = core.borrow(incumbent.needed)
      if (taken === null) {
        isExhausted = !isImproved
        isImproved = false
        return
      }
      const width = partner.states.count * (taken.others.length + 1)
      if (width > room || !work.allows(width)) return
      work.add(width)
      partner.expand(taken, limitsByPrice(relaxation, certificate, incumbent.needed, reduced))
    }
  }

  return {
    tryNext(states) {
      if (isExhausted) return false
      partner ??= createLayer(reduced, history, relaxation.left)
      grow(partner, Math.max(MIN_WIDTH, 2 * states.count))
      const visits = states.count + partner.states.count
      if (!work.allows(visits)) return false
      work.add(visits)
      const pair = bestPair(states, partner.states, relaxation.left, incumbent.value)
      if (pair !== null) {
        incumbent.improve(pair.value, states.node[pair.first]!, partner.states.node[pair.second]!)
        isImproved = true
      }
      return true
    },
  }
}

interface Pair {
  readonly first: number
  readonly second: number
  /** Units above the break solution. */
  readonly value: number
}

/**
 * The most valuable pair of states that is within the budget (the combining step of Horowitz and
 * Sahni 1974): as many combinations as the product of the layers' sizes, in time of their sum.
 * @param left budget that the break solution leaves, from which both layers start
 * @returns null if no pair has a higher value than `best`
 */
export function bestPair(first: States, second: States, left: number, best: number): Pair | null {
  let found: Pair | null = null
  let b = second.count - 1
  for (let a = 0; a < first.count; a++) {
    const least = left - first.left[a]!
    while (b >= 0 && second.left[b]! < least) b--
    if (b < 0) break
    const value = first.value[a]! + second.value[b]!
    if (value > (found?.value ?? best)) found = { first: a, second: b, value }
  }
  return found
}
