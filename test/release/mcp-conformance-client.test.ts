import { describe, expect, it } from 'vitest'
import { clientScenarios, type Revision, runClientScenario } from '../support/mcp/conformance.ts'
import { runs, SEED } from '../support/runs.ts'

/**
 * Scenarios of one revision that are played, spread over all; each seed plays others. Each takes
 * some four seconds of processor time, so all of them are played with `TEST_RUNS=5`.
 */
const FEW = runs(8)

const REVISIONS: readonly (readonly [Revision, number])[] = [
  ['2025-11-25', 18],
  ['2026-07-28', 32],
]

describe.each(REVISIONS)('the gateway as a client of %s', (revision, known) => {
  const all = clientScenarios(revision)
  const count = Math.min(FEW, all.length)
  const played = Array.from({ length: count }, (_, i) => {
    return all[(SEED + Math.floor((i * all.length) / count)) % all.length] as string
  })

  it('is measured by all that the revision requires', () => {
    expect(all).toHaveLength(known)
  })

  it.each(played)('passes %s', async scenario => {
    expect(await runClientScenario(scenario, revision)).toEqual([])
  })
})
