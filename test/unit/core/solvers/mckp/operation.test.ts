import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../../src/core/base/errors.ts'
import type { KnapsackAnswer } from '../../../../../src/core/contract/knapsack.ts'
import { validate } from '../../../../../src/core/contract/validate.ts'
import { createKnapsackOperation } from '../../../../../src/core/operations/knapsack.ts'
import type { OperationContext } from '../../../../../src/core/operations/operation.ts'
import { makeInstance } from '../../../../support/knapsack/instances.ts'

function run(request: unknown, now: () => number = () => 0): KnapsackAnswer {
  const operation = createKnapsackOperation(now)
  return operation.run(validate(operation.request, request), {} as OperationContext).answer
}

/** The code of the failure, and what it says. */
function failure(request: unknown): Record<string, unknown> {
  try {
    run(request)
  } catch (error) {
    if (error instanceof AppError) return { ...error.toProblem() }
    throw error
  }
  return {}
}

const one = (fields: object) => ({ classes: [{ id: 'a', options: [fields] }], budget: 5 })

describe('POST /v1/knapsack', () => {
  it('names the picks by class', () => {
    const classes = [
      {
        id: 'table',
        options: [
          { id: 'csv', cost: 4, value: 9 },
          { id: 'tree', cost: 2, value: 5 },
        ],
      },
      { id: 'log', required: true, options: [{ id: 'short', cost: 3, value: 0.5 }] },
      { id: 'rest', options: [{ id: 'all', cost: 9, value: 9 }] },
    ]
    expect(run({ classes, budget: 6 })).toEqual({
      picks: Object.assign(Object.create(null), { table: 'tree', log: 'short', rest: null }),
      cost: 5,
      value: 5.5,
      optimal: true,
      upper_bound: 5.5,
    })
  })

  it.each(['__proto__', 'constructor', 'toString', '', '0', 'ä\u0000'])('takes the id %j', id => {
    const { picks } = run({ classes: [{ id, options: [{ id, cost: 1, value: 1 }] }], budget: 1 })
    expect(Object.entries(picks)).toEqual([[id, id]])
    expect(JSON.stringify(picks)).toBe(`{${JSON.stringify(id)}:${JSON.stringify(id)}}`)
  })

  it.each<[string, unknown, string]>([
    ['no classes field', { budget: 1 }, 'classes'],
    ['no budget', { classes: [] }, 'budget'],
    ['a negative budget', { classes: [], budget: -1 }, 'budget'],
    ['a budget of 2^53', { classes: [], budget: 2 ** 53 }, 'budget'],
    ['a negative cost', one({ id: 'x', cost: -1, value: 1 }), 'classes.0.options.0.cost'],
    ['half a cost', one({ id: 'x', cost: 0.5, value: 1 }), 'classes.0.options.0.cost'],
    ['a cost of NaN', one({ id: 'x', cost: Number.NaN, value: 1 }), 'classes.0.options.0.cost'],
    ['a negative value', one({ id: 'x', cost: 1, value: -0.1 }), 'classes.0.options.0.value'],
    ['an infinite value', one({ id: 'x', cost: 1, value: Infinity }), 'classes.0.options.0.value'],
    ['a value of NaN', one({ id: 'x', cost: 1, value: Number.NaN }), 'classes.0.options.0.value'],
    ['a value that is text', one({ id: 'x', cost: 1, value: '1' }), 'classes.0.options.0.value'],
    ['an option without id', one({ cost: 1, value: 1 }), 'classes.0.options.0.id'],
    [
      'an unknown field',
      one({ id: 'x', cost: 1, value: 1, weight: 1 }),
      'classes.0.options.0.weight',
    ],
    ['no time', { classes: [], budget: 1, time_limit_ms: 0 }, 'time_limit_ms'],
    ['too much time', { classes: [], budget: 1, time_limit_ms: 10_001 }, 'time_limit_ms'],
    [
      'a class twice',
      {
        classes: [
          { id: 'a', options: [] },
          { id: 'a', options: [] },
        ],
        budget: 1,
      },
      'classes.1.id',
    ],
    [
      'an option twice',
      {
        classes: [
          {
            id: 'a',
            options: [
              { id: 'x', cost: 1, value: 1 },
              { id: 'x', cost: 2, value: 1 },
            ],
          },
        ],
        budget: 1,
      },
      'classes.0.options.1.id',
    ],
    [
      'a required class without options',
      { classes: [{ id: 'a', required: true, options: [] }], budget: 1 },
      'classes.0.options',
    ],
    [
      'values without a finite sum',
      {
        classes: ['a', 'b'].map(id => ({ id, options: [{ id, cost: 1, value: 1.7e308 }] })),
        budget: 1,
      },
      'classes',
    ],
  ])('refuses %s', (_, request, path) => {
    expect(failure(request)).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
  })

  it('says at which budget the required classes would fit', () => {
    const classes = ['a', 'b'].map(id => ({
      id,
      required: true,
      options: [{ id, cost: 7, value: 1 }],
    }))
    expect(failure({ classes, budget: 13 })).toMatchObject({
      code: 'budget_too_small',
      minimum_tokens: 14,
    })
    const huge = classes.map(each => ({
      ...each,
      options: [{ id: 'x', cost: 2 ** 53 - 1, value: 1 }],
    }))
    expect(failure({ classes: huge, budget: 13 })).toEqual({
      code: 'budget_too_small',
      detail: 'the required classes cost 2^53 or more',
    })
  })

  it('stops when its time is over, with a bound', () => {
    const { starts, costs, values, budget } = makeInstance(
      'weakly correlated',
      { classes: 400, options: 6, range: 1e9, required: false },
      1,
    )
    const classes = Array.from({ length: 400 }, (_, i) => ({
      id: `${i}`,
      options: Array.from({ length: 6 }, (_, j) => ({
        id: `${j}`,
        cost: costs[starts[i]! + j]!,
        value: values[starts[i]! + j]!,
      })),
    }))
    const stoppedAfter = (time_limit_ms: number) => {
      let time = 0
      const answer = run({ classes, budget, time_limit_ms }, () => time++)
      expect(answer.optimal).toBe(false)
      expect(answer.upper_bound).toBeGreaterThan(answer.value)
      return time
    }
    expect(stoppedAfter(5)).toBe(6)
    expect(stoppedAfter(12)).toBe(13)
  })
})
