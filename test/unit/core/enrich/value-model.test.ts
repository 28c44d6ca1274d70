import { describe, expect, it } from 'vitest'
import { fillModel, mergeModels, toolModelSchema } from '../../../../src/core/enrich/value-model.ts'

// SOURCES.md#planner, "Annotation taxonomy": the six annotations, and what the contract adds to
// them.
describe('the model of a tool', () => {
  it('has the defaults of the contract, section 7', () => {
    const model = fillModel({
      field_groups: { must_have: { fields: ['id'] } },
      follow_up: [{ tool: 'get' }],
    })
    expect(model).toEqual({
      value_class: 'critical',
      side_effect_class: 'indeterminate',
      cost_model: { typical_kb: 1 },
      field_groups: new Map([
        ['must_have', { fields: ['id'], estimated_value: 0.5, default_include: true }],
      ]),
      follow_up: [{ tool: 'get', probability: 0.5 }],
      invalidates: [],
    })
  })

  it.each([
    ['an unknown key', { value: 1 }],
    ['an unknown class', { value_class: 'high' }],
    ['a probability above 1', { follow_up: [{ tool: 'a', probability: 1.1 }] }],
    ['a tool without a name', { follow_up: [{ tool: '' }] }],
    ['a negative size', { cost_model: { typical_kb: -1 } }],
    ['fail-fast after nothing', { fail_fast_after_n: 0 }],
  ])('refuses %s', (_, stated) => {
    expect(toolModelSchema.safeParse(stated).success).toBe(false)
  })

  it('is merged field by field, and the right one wins', () => {
    const merged = mergeModels(
      {
        value_class: 'supporting',
        cost_model: { typical_kb: 2, max_kb: 9 },
        field_groups: { debug: { fields: ['trace'], estimated_value: 0.1 }, must_have: {} },
        follow_up: [{ tool: 'a' }],
        invalidates: ['x'],
      },
      {
        cost_model: { typical_kb: 3 },
        field_groups: { debug: { default_include: false } },
        follow_up: [],
        speculate: false,
      },
    )
    expect(merged).toEqual({
      value_class: 'supporting',
      cost_model: { typical_kb: 3, max_kb: 9 },
      field_groups: {
        debug: { fields: ['trace'], estimated_value: 0.1, default_include: false },
        must_have: {},
      },
      follow_up: [],
      invalidates: ['x'],
      speculate: false,
    })
  })

  it('keeps a group with any name', () => {
    const group = JSON.parse('{"__proto__": {"fields": ["a"]}}')
    const merged = mergeModels({ field_groups: {} }, { field_groups: group })
    expect([...fillModel(merged).field_groups.keys()]).toEqual(['__proto__'])
  })
})
