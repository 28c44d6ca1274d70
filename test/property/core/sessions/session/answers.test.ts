import fc from 'fast-check'
import { expect, it } from 'vitest'
import { memoryStore } from '../../../../support/memory-store.ts'
import { leastHits } from '../../../../support/runs.ts'
import { createSessionWorld, sessionStep } from '../../../../support/session-world.ts'
import { fewRuns } from '../../../../support/short-runs.ts'

/** More in the long run. */
const RUNS = fewRuns(12, 2)

it.each([
  ['enough', { bodyBytes: 1 << 22, hasCallIds: true }],
  // Where calls are forgotten soon, one that comes again is another one.
  ['little', { bodyBytes: 1 << 16, hasCallIds: false }],
])('every answer is true, with %s memory', async (_, options) => {
  const { store, clock } = memoryStore()
  const world = createSessionWorld({ ...options, stores: [store], clock })
  await fc.assert(
    fc.asyncProperty(fc.array(sessionStep, { minLength: 10, maxLength: 40 }), async steps => {
      world.begin()
      for (const each of steps) await world.run(each)
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  const { exact, lines: runs, again } = world.seen
  expect(runs).toBeGreaterThanOrEqual(leastHits(1))
  expect(world.seen.checked).toBeGreaterThanOrEqual(leastHits(1))
  // Whole ones are few: in a short run there may be none.
  if (RUNS >= 100) expect(exact).toBeGreaterThan(0)
  if (RUNS >= 100 && options.hasCallIds) expect(again).toBeGreaterThan(0)
})
