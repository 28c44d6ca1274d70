import { expect, it } from 'vitest'
import { createXorshift } from '../../../../bench/support/random.ts'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import {
  isSafeBoundary,
  lastSafeBoundary,
  middleOf,
} from '../../../../src/core/tokens/safe-boundary.ts'
import { tiktokenIds } from '../../../../src/runtime/tiktoken.ts'
import { FULL_RUNS, SEED } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { boundaryText } from './boundary-text.ts'

/** A short run looks at every sixteenth pair, other ones each time. */
const STEP = FULL_RUNS ? 1 : 16
const PAIRS = fewRuns(120_000, 1_500)
const MIDDLES = fewRuns(60_000, 1_000)

it('counts add up at boundaries that are declared safe', () => {
  const random = createXorshift(SEED)
  let safe = 0
  for (let i = 0; i < PAIRS; i++) {
    const left = boundaryText(random)
    const right = boundaryText(random)
    if (!isSafeBoundary(left, right)) continue
    safe++
    for (const encoding of ENCODINGS) {
      const { count } = counters.get(encoding)
      if (count(left + right) !== count(left) + count(right)) {
        expect.fail(`${encoding} ${JSON.stringify([left, right])}`)
      }
    }
  }
  expect(safe).toBeGreaterThan(PAIRS / 12)
})

it('every pair of ASCII characters that is declared safe is safe in tiktoken too', () => {
  const around = ['', 'a', ' ', "'", '\n', '1', '(']
  for (let last = 0; last < 128; last++) {
    for (let first = (SEED + last) % STEP; first < 128; first += STEP) {
      const [left, right] = [String.fromCharCode(last), String.fromCharCode(first)]
      if (!isSafeBoundary(left, right)) continue
      const before = around[(last + first) % around.length]! + left
      const after = right + around[(last * 3 + first) % around.length]!
      for (const encoding of ENCODINGS) {
        const parts = tiktokenIds(before, encoding).length + tiktokenIds(after, encoding).length
        expect(tiktokenIds(before + after, encoding).length).toBe(parts)
      }
    }
  }
})

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
