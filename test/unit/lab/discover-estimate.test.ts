import { describe, expect, it } from 'vitest'
import { estimateChange } from '../../../src/lab/discover/estimate.ts'
import { createRandom } from '../../../src/lab/guard/bootstrap.ts'

/** Logs as they are: a tenth of them has a third of all tokens. */
const random = createRandom(7)
const LOGS = Array.from({ length: 150 }, () => {
  const before = Math.round(1_000 * Math.exp(1.2 * (random() + random() + random() - 1.5) * 2))
  return { before, after: Math.round(before * (0.4 + 0.5 * random())) }
})
const sum = (key: 'before' | 'after', logs = LOGS) =>
  logs.reduce((total, log) => total + log[key], 0)
const CHANGE = sum('after') / sum('before') - 1

describe('estimateChange', () => {
  it('has the change of all logs in nine of ten ranges', () => {
    const DRAWS = 150
    let held = 0
    for (let draw = 0; draw < DRAWS; draw++) {
      const sample = LOGS.map(log => ({ log, place: random() }))
        .sort((a, b) => a.place - b.place)
        .slice(0, 40)
        .map(({ log }) => log)
      const share = sum('before', sample) / sum('before')
      const { low, high } = estimateChange(sample, share)!
      if (low <= CHANGE && CHANGE <= high) held++
    }
    expect(held / DRAWS).toBeGreaterThan(0.86)
    expect(held / DRAWS).toBeLessThan(0.99)
  })

  it('is exact for all logs, and says nothing of too few', () => {
    const { change, low, high } = estimateChange(LOGS, 1)!
    expect(change).toBeCloseTo(CHANGE, 12)
    expect([low, high]).toEqual([change, change])
    expect(estimateChange(LOGS.slice(0, 4), 0.1)).toBeNull()
    expect(estimateChange([], 0)).toBeNull()
  })
})
