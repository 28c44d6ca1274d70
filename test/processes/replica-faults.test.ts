import { describe, expect, test } from 'vitest'
import { FAILOVERS, FAULTS } from '../support/replica-faults/fault-table.ts'
import { playFaults } from '../support/replica-faults/play.ts'
import { SEED } from '../support/runs.ts'

/** What else happens to a server happens to the one without Sentinels. */
const OF_SENTINELS = Object.keys(FAILOVERS).filter(name => !(name in FAULTS))

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('three replicas', () => {
  test.each([
    ['they are killed, and Redis hangs, drops and forgets', Object.keys(FAULTS), 700, false],
    ['Sentinels promote another Redis', OF_SENTINELS, 250, true],
  ])('send nothing false while %s', async (_, faults, operations, hasSentinels) => {
    const options = { operations, seed: SEED, each: 30, agents: 2, faults, hasSentinels }
    const { violations, counts, faults: happened } = await playFaults(options)
    expect(violations).toEqual([])
    expect(Object.keys(happened).sort()).toEqual(faults.sort())
    // How many there are depends on the machine: faults take time, in which others go on.
    expect(counts.references).toBeGreaterThan(hasSentinels ? 0 : 5)
    expect(counts.retrieves).toBeGreaterThan(hasSentinels ? 0 : 5)
    expect(counts.compactions + counts.closes).toBeGreaterThan(0)
  })
})
