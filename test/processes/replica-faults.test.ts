import { describe, expect, test } from 'vitest'
import { FAULTS } from '../support/replica-faults/fault-table.ts'
import { playFaults } from '../support/replica-faults/play.ts'
import { SEED } from '../support/runs.ts'

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('three replicas', () => {
  test('send nothing false while they are killed, and Redis hangs, drops and forgets', async () => {
    const faults = Object.keys(FAULTS)
    const options = { operations: 700, seed: SEED, each: 30, agents: 2, faults }
    const { violations, counts, faults: happened } = await playFaults(options)
    expect(violations).toEqual([])
    expect(Object.keys(happened).sort()).toEqual(faults.sort())
    // How many there are depends on the machine: faults take time, in which others go on.
    expect(counts.references).toBeGreaterThan(5)
    expect(counts.retrieves).toBeGreaterThan(5)
    expect(counts.compactions).toBeGreaterThan(0)
  })
})
