import { describe, expect, it } from 'vitest'
import { clientScenarios, type Revision, runClientScenario } from '../support/mcp/conformance.ts'
import { FULL_RUNS, SEED } from '../support/runs.ts'

/** Scenarios of one revision in a short run; each run plays others. */
const FEW = 3

const REVISIONS: readonly (readonly [Revision, number])[] = [
  ['2025-11-25', 18],
  ['2026-07-28', 32],
]

describe.each(REVISIONS)('the gateway as a client of %s', (revision, count) => {
  const all = clientScenarios(revision)
  const first = (SEED * FEW) % all.length
  const played = FULL_RUNS ? all : [...all, ...all].slice(first, first + FEW)

  it('is measured by all that the revision requires', () => {
    expect(all).toHaveLength(count)
  })

  it.each(played)('passes %s', async scenario => {
    expect(await runClientScenario(scenario, revision)).toEqual([])
  })
})
