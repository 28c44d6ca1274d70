import { createRandom } from '../../src/bill/statistics.ts'
import type { Costs } from './cost.ts'
import { type Input, mutated, randomInput, writeInput } from './grammar.ts'

/** An input, and its processor time per byte over that of ordinary JSON. */
export interface Find {
  readonly input: Input
  readonly ratio: number
}

interface SearchOptions {
  readonly seed: number
  readonly climbs: number
  readonly steps: number
  readonly chars: number
  readonly ordinary: number
}

/**
 * Climbs from several inputs by chance towards slower ones. Which inputs are tried depends on the
 * seed and on which was the slower one; a step up is measured twice.
 */
export function searchSlowInputs(
  costs: Costs,
  { seed, climbs, steps, chars, ordinary }: SearchOptions,
): readonly Find[] {
  const random = createRandom(seed)
  const ratioOf = (input: Input) => costs.of('encode', writeInput(input, chars)) / ordinary
  const finds = Array.from({ length: climbs }, () => {
    let input = randomInput(random)
    let ratio = Math.min(ratioOf(input), ratioOf(input))
    for (let step = 0; step < steps; step++) {
      const next = mutated(input, random)
      if (ratioOf(next) <= ratio) continue
      const again = ratioOf(next)
      if (again > ratio) [input, ratio] = [next, again]
    }
    return { input, ratio }
  })
  return finds.sort((a, b) => b.ratio - a.ratio)
}
