import { createHistory, type History, ROOT } from '../shared/history.ts'
import { Incumbent } from '../shared/incumbent.ts'
import { type Lattice, neededFor, roundBound } from '../shared/lattice.ts'
import { bestBound, lastFitting } from '../shared/states.ts'
import type { Certificate } from './certify.ts'
import { createCore } from './core.ts'
import { createLayer, limitsBySlopes } from './layer.ts'
import { createPairing } from './pairing.ts'
import { createWork, type SolveOptions } from './problem.ts'
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
