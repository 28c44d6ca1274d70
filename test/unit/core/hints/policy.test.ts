import { describe, expect, test } from 'vitest'
import type { ElisionHint, Hint } from '../../../../src/core/hints/hint.ts'
import { hintLine } from '../../../../src/core/hints/hint-line.ts'
import {
  BREAK_EVEN,
  createHintGate,
  type HintContext,
  type HintsPolicy,
  NONE_SENT,
} from '../../../../src/core/hints/policy.ts'
import { lengthCounter } from '../../../support/length-counter.ts'

const REFERENCE: Hint = { family: 'reference', ref: '9f2c41aa' }
const FORMAT: Hint = { family: 'format', format: 'csv@1' }
const LINE = '> [ref 9f2c41aa, byte-identical]'
const counter = lengthCounter(4)
const RICH = { saved_tokens: 1e6, counter }

function gate(policy: Partial<HintsPolicy> = {}, context: Partial<HintContext> = {}) {
  const whole: HintsPolicy = { enabled: true, default_verbosity: 'standard', types: {}, ...policy }
  return createHintGate(whole, { ...NONE_SENT, ...context })
}

describe('the gate', () => {
  test('sends what saves more than four times its cost', () => {
    const cost = counter.count(LINE)
    const even = { saved_tokens: BREAK_EVEN * cost, counter }
    expect(gate().admit(REFERENCE, even)).toBeNull()
    expect(gate().admit(REFERENCE, { ...even, saved_tokens: BREAK_EVEN * cost + 1 })).toBe(LINE)
    expect(gate().admit(REFERENCE, { ...even, saved_tokens: Number.NaN })).toBeNull()
    expect(BREAK_EVEN).toBe(4)
  })

  test('writes in the verbosity of the configuration', () => {
    for (const verbosity of ['terse', 'verbose'] as const) {
      const line = gate({ default_verbosity: verbosity }).admit(REFERENCE, RICH)
      expect(line).toBe(hintLine(REFERENCE, verbosity))
    }
  })

  test('sends nothing where hints, or those of the family, are off', () => {
    const off = { enabled: false, applies_to_models: ['*'] }
    expect(gate({ enabled: false }).admit(REFERENCE, RICH)).toBeNull()
    expect(gate({ types: { reference: off } }).admit(REFERENCE, RICH)).toBeNull()
    expect(gate({ types: { format: off } }).admit(REFERENCE, RICH)).toBe(LINE)
  })

  test.each([
    [['*'], undefined, true],
    [['*'], 'any', true],
    [['gpt-oss:20b', 'claude-*'], 'claude-sonnet-5', true],
    [['gpt-oss:20b', 'claude-*'], 'gpt-oss:20b', true],
    [['gpt-oss:20b', 'claude-*'], 'gpt-oss:20b-fast', false],
    [['gpt-oss:20b', 'claude-*'], undefined, false],
    [[], 'any', false],
  ])('models %j and %s', (patterns, model, sent) => {
    const types = { reference: { enabled: true, applies_to_models: patterns } }
    const line = gate({ types }, model === undefined ? {} : { model }).admit(REFERENCE, RICH)
    expect(line !== null).toBe(sent)
  })

  test('sends no more of a family than a session may have, those of this answer included', () => {
    const types = { reference: { enabled: true, max_per_session: 3, applies_to_models: ['*'] } }
    const one = gate({ types }, { sentInSession: family => (family === 'reference' ? 1 : 99) })
    expect(one.admit(REFERENCE, { ...RICH, saved_tokens: 0 })).toBeNull()
    expect([1, 2, 3].map(() => one.admit(REFERENCE, RICH))).toStrictEqual([LINE, LINE, null])
    expect(one.admit(FORMAT, RICH)).not.toBeNull()
  })

  test.each([
    [1, false],
    [3, false],
    [4, true],
    [Infinity, true],
  ])('sends hints of a family %d results after the last ones: %s', (since, sent) => {
    const rule = { enabled: true, interval_results: 4, applies_to_models: ['*'] }
    const policy = { types: { reference: rule, elision: rule } }
    const one = gate(policy, { resultsSince: family => (family === 'format' ? 1 : since) })
    expect(one.admit(REFERENCE, RICH) !== null).toBe(sent)
    // Further ones in the same answer are no closer.
    expect(one.admit(REFERENCE, RICH) !== null).toBe(sent)
    expect(one.admitMarker() !== null).toBe(sent)
    expect(one.admit(FORMAT, RICH)).not.toBeNull()
  })

  test('tells chains of searches only by a rule of their own', () => {
    const hint: Hint = { family: 'search_chain', searches: 5, of: 7 }
    expect(gate().admit(hint, RICH)).toBeNull()
    const rule = { enabled: true, applies_to_models: ['*'] }
    expect(gate({ types: { search_chain: rule } }).admit(hint, RICH)).not.toBeNull()
  })

  test('says nothing that goes without saying', () => {
    const metadata = (total: number): Hint => ({ family: 'metadata', total, returned: 20 })
    expect(gate().admit(metadata(20), RICH)).toBeNull()
    expect(gate().admit(metadata(21), RICH)).toBe('> [total=21 | returned=20]')
    expect(gate().admit(FORMAT, { ...RICH, usual: 'csv@1' })).toBeNull()
    expect(gate().admit(FORMAT, { ...RICH, usual: 'kv@1' })).toBe('> [encoded: csv@1]')
  })

  test('lets the place of a marker be taken before it is known what it says', () => {
    const types = { elision: { enabled: true, max_per_session: 2, applies_to_models: ['*'] } }
    const one = gate({ types }, { sentInSession: () => 1 })
    const write = one.admitMarker()
    const marker: ElisionHint = {
      family: 'elision',
      hash: '9f2c41aa07d3b85e16f04c2a',
      parts: [{ unit: 'items', omitted: 3 }],
    }
    expect(write?.(marker)).toBe('> [3 items not shown | hash=9f2c41aa07d3b85e16f04c2a]')
    expect(write?.({ ...marker, parts: [] })).toBeNull()
    expect(one.admitMarker()).toBeNull()
    expect(one.admit(marker, RICH)).toBeNull()
    expect(gate({ enabled: false }).admitMarker()).toBeNull()
  })

  test('refuses what cannot be said', () => {
    const call = { name: 'list', args: { q: 'x'.repeat(5000) } }
    expect(gate().admit({ family: 'overflow', omitted: 1, call }, RICH)).toBeNull()
  })
})
