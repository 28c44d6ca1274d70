import type { History } from '../shared/history.ts'
import type { Incumbent } from '../shared/incumbent.ts'
import type { States } from '../shared/states.ts'
import type { Certificate } from './certify.ts'
import type { Core } from './core.ts'
import { createLayer, type Layer, limitsByPrice } from './layer.ts'
import type { Work } from './problem.ts'
import type { Reduced } from './reduce.ts'
import type { Relaxation } from './relaxation.ts'

/** Smallest width that a partner may have, so that small layers find useful partners. */
const MIN_WIDTH = 2 ** 13

/** Looks for better solutions in pairs of states over different classes. */
export interface Pairing {
  /**
   * Pairs a layer's states with those of a partner over the next classes outside of the core.
   * `false` if there is nothing left to try: all classes had their turn since the last better
   * solution, or no work is left.
   */
  tryNext(states: States): boolean
}

/** The parts of a search that pairing uses. */
export interface Setting {
  readonly reduced: Reduced
  readonly relaxation: Relaxation
  readonly certificate: Certificate
  readonly history: History
  readonly incumbent: Incumbent
  readonly core: Core
  readonly work: Work
}

/** The partner's states are valid only within one call of `tryNext`. */
export function createPairing(setting: Setting): Pairing {
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
