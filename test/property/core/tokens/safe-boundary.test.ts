import { expect, it } from 'vitest'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import { lastSafeBoundary, middleOf } from '../../../../src/core/tokens/safe-boundary.ts'
import { SEED } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { createXorshift } from '../../../support/xorshift.ts'
import { boundaryText } from './boundary-text.ts'

const MIDDLES = fewRuns(60_000, 1_000)

it('a middle may be cut out and counted alone, whatever is around the text', () => {
  const random = createXorshift(SEED)
  let cuts = 0
  for (let i = 0; i < MIDDLES; i++) {
    const text = boundaryText(random) + boundaryText(random)
    const middle = middleOf(text, 1)
    if (middle === null) continue
    cuts++
    const [left, right] = [boundaryText(random), boundaryText(random)]
    const [a, m, b] = [
      left + text.slice(0, middle.start),
      text.slice(middle.start, middle.end),
      text.slice(middle.end) + right,
    ]
    for (const encoding of ENCODINGS) {
      const { count } = counters.get(encoding)
      if (count(a + m + b) !== count(a + b) + count(m)) {
        expect.fail(`${encoding} ${JSON.stringify([a, m, b])}`)
      }
    }
  }
  expect(cuts).toBeGreaterThan(MIDDLES / 40)
})

it('blocks are cut at safe boundaries only', () => {
  const random = createXorshift(SEED)
  for (let i = 0; i < fewRuns(20_000, 500); i++) {
    const bytes = Buffer.from(boundaryText(random).toWellFormed())
    const at = lastSafeBoundary(bytes, 0, bytes.length)
    if (at === 0) continue
    const [left, right] = [bytes.toString('utf8', 0, at), bytes.toString('utf8', at)]
    for (const encoding of ENCODINGS) {
      const { count } = counters.get(encoding)
      expect(count(left) + count(right)).toBe(count(left + right))
    }
  }
})
