import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTurnPlaces } from '../../../src/pool/turn-places.ts'
import { runs } from '../../support/runs.ts'

/** Few different samples, so that many turns have as many in common and differ after that. */
const samples = fc.array(fc.nat({ max: 1 }), { maxLength: 6 }).map(drawn => Uint32Array.from(drawn))

/** How many samples two turns have in common at their start. */
function common(a: Uint32Array, b: Uint32Array): number {
  const at = [...a].findIndex((sample, index) => sample !== b[index])
  return at === -1 ? a.length : at
}

interface Placed {
  readonly samples: Uint32Array
  readonly thread: number
}

/** The first of those that have most in common with a turn, if that is anything. */
function closest(placed: readonly Placed[], turn: Uint32Array): Placed | undefined {
  const most = Math.max(0, ...placed.map(each => common(each.samples, turn)))
  return most === 0 ? undefined : placed.find(each => common(each.samples, turn) === most)
}

describe('the thread of a turn', () => {
  it('is that of the turn with most in common at its start, of several the latest', () => {
    const team = { tenant: 'team', op: 'rewrite' } as const
    fc.assert(
      fc.property(fc.array(samples, { maxLength: 20 }), samples, (turns, asked) => {
        const places = createTurnPlaces()
        let placed: Placed[] = []
        for (const [thread, turn] of turns.entries()) {
          const earlier = closest(placed, turn)
          const isContinued =
            earlier !== undefined && common(earlier.samples, turn) >= earlier.samples.length - 1
          if (isContinued) placed = placed.filter(each => each !== earlier)
          placed.unshift({ samples: turn, thread })
          places.note({ ...team, samples: turn }, thread)
        }
        expect(places.find({ ...team, samples: asked })).toBe(closest(placed, asked)?.thread)
      }),
      { numRuns: runs(500) },
    )
  })
})
