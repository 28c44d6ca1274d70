import { describe, expect, it } from 'vitest'
import { callCost, callOptions, callValue } from '../../../../src/core/enrich/call-options.ts'
import { intentKeywords } from '../../../../src/core/enrich/intent.ts'
import { fillModel, type ToolModel } from '../../../../src/core/enrich/value-model.ts'
import { NumberLiteral, ObjectValue } from '../../../../src/core/json/value.ts'
import { modelsWith } from '../../../support/models.ts'

const appraise = (keywords: readonly string[] = []) => ({ keywords })

describe('keywords of an intent', () => {
  it('are its words without those of every question', () => {
    expect(intentKeywords('Show me the SNIPPETS about retry-logic, retry!')).toEqual([
      ...['snippets', 'retry', 'logic'],
    ])
  })

  it('come from the arguments of the call if none is stated', () => {
    const args = new ObjectValue(
      ['query', 'n', 'tags'],
      ['timeout handling', new NumberLiteral('1.0'), ['xpath', 3, 'for']],
    )
    expect(intentKeywords(undefined, args)).toEqual(['timeout', 'handling', 'xpath'])
    expect(intentKeywords('dom', args)).toEqual(['dom'])
    expect(intentKeywords(undefined)).toEqual([])
  })

  it('are at most 32, of a part of the text', () => {
    const words = Array.from({ length: 50 }, (_, i) => `word${i}`).join(' ')
    expect(intentKeywords(words).length).toBe(32)
    expect(intentKeywords(`${' '.repeat(20_000)}late`)).toEqual([])
    expect(intentKeywords('x'.repeat(100))).toEqual([])
  })
})

// Contract, section 8, "Value" and "Cost"; SOURCES.md#planner, "Intent-aware boost", "Latency /
// dollar".
describe('the value of a call', () => {
  it.each([
    ['critical', 1],
    ['supporting', 0.5],
    ['optional', 0.2],
    ['audit_only', 0],
  ] as const)('is that of its class: %s', (value_class, expected) => {
    expect(callValue(fillModel({ value_class }), appraise())).toBe(expected)
  })

  it('grows if the intent names a field of a group that is not included by default', () => {
    const { model } = modelsWith().find('WebSearch')
    expect(callValue(model, appraise())).toBe(0.5)
    const keywords = intentKeywords('snippets about retry logic')
    expect(callValue(model, appraise(keywords))).toBe(0.5 * 1.3)
    expect(callValue(model, appraise(['title']))).toBe(0.5)
  })

  it('grows at most 2.5 times', () => {
    const group = { fields: ['Body'], estimated_value: 1, default_include: false }
    const groups = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map(name => [name, group]))
    expect(callValue(fillModel({ field_groups: groups }), appraise(['body']))).toBe(2.5)
  })

  it.each([
    [{ latency_ms_p50: 5_000 }, 0.5],
    [{ dollars: 0.1 }, 0.5],
    [{ latency_ms_p50: 9_000, dollars: 2 }, 0.25],
    [{ latency_ms_p50: 4_999, dollars: 0.09 }, 1],
  ])(
    'is less for slow and expensive calls only if the planner is cost-aware: %o',
    (cost, share) => {
      const model = fillModel({ cost_model: cost })
      expect(callValue(model, { ...appraise(), isCostAware: true })).toBe(share)
      expect(callValue(model, appraise())).toBe(1)
    },
  )
})

describe('the cost of a call', () => {
  it.each([
    [undefined, 256],
    [0, 1],
    [0.001, 1],
    [0.3, 77],
    [2.5, 640],
  ])('of %s kB is %i tokens', (typical_kb, expected) => {
    const stated: ToolModel = typical_kb === undefined ? {} : { cost_model: { typical_kb } }
    expect(callCost(fillModel(stated))).toBe(expected)
  })

  it('is the observed median once there is one', () => {
    expect(callCost(fillModel({}), 12.5)).toBe(13)
    expect(callCost(fillModel({}), 0)).toBe(1)
  })
})

describe('the options of a call', () => {
  const groups: ToolModel['field_groups'] = {
    debug: { fields: ['trace', 'raw'], estimated_value: 0.1 },
    nice_to_have: { fields: ['body'], estimated_value: 0.4 },
    must_have: { fields: ['id'], estimated_value: 1 },
    extra: { fields: ['links'], estimated_value: 0.5, default_include: false },
  }

  it('are must_have, then with more groups', () => {
    const options = callOptions(fillModel({ field_groups: groups }), appraise())
    expect(options.map(({ include, cost_tokens }) => [include, cost_tokens])).toEqual([
      [['must_have'], 64],
      [['must_have', 'nice_to_have'], 128],
      [['must_have', 'nice_to_have', 'debug'], 256],
    ])
    expect(options.map(({ value }) => value)).toEqual([
      expect.closeTo(1 / 1.5, 12),
      expect.closeTo(1.4 / 1.5, 12),
      expect.closeTo(1, 12),
    ])
  })

  it('have a group that is not included by default if the intent names it', () => {
    const options = callOptions(fillModel({ field_groups: groups }), appraise(['link']))
    expect(options.at(-1)).toEqual({
      include: ['must_have', 'nice_to_have', 'debug', 'extra'],
      cost_tokens: 256,
      value: expect.closeTo(1.5, 12),
    })
  })

  it('are one if there are no groups, or none that says anything', () => {
    const one = [{ include: null, cost_tokens: 256, value: 1 }]
    expect(callOptions(fillModel({}), appraise())).toEqual(one)
    const empty = { must_have: { fields: [] }, debug: { fields: ['a'], estimated_value: 0 } }
    expect(callOptions(fillModel({ field_groups: { a: { fields: [] } } }), appraise())).toEqual(one)
    expect(callOptions(fillModel({ field_groups: { debug: empty.debug } }), appraise())).toEqual(
      one,
    )
  })
})
