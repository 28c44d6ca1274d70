import { describe, expect, it } from 'vitest'
import { callKey } from '../../../../src/core/enrich/call-key.ts'
import { screenArguments } from '../../../../src/core/enrich/candidates.ts'
import type { ListedTool } from '../../../../src/core/enrich/eligibility.ts'
import type { Offering, PlanContext } from '../../../../src/core/enrich/plan.ts'
import { planCalls } from '../../../../src/core/enrich/planner.ts'
import { Probabilities } from '../../../../src/core/enrich/probability.ts'
import type { ToolModel } from '../../../../src/core/enrich/value-model.ts'
import { modelsWith } from '../../../support/models.ts'

const READS: ToolModel = { side_effect_class: 'read_only' }

/** A closed, trusted tool of the server `s`. */
const tool = (name: string, more: Partial<ListedTool> = {}): ListedTool => ({
  ...{ name, server: 's', isTrusted: true, annotations: { openWorldHint: false } },
  ...more,
})

const TOOLS = ['get', 'comments', 'diff', 'slow', 'write', 'off'].map(name => tool(name))

function contextOf(more: Partial<PlanContext> = {}): PlanContext {
  const models = modelsWith({
    mined: { off: { ...READS, speculate: false } },
    user: {
      ...{ get: READS, comments: READS, diff: READS, off: READS },
      slow: { ...READS, cost_model: { latency_ms_p50: 9_000 } },
      write: { side_effect_class: 'mutates_external' },
    },
  })
  return {
    models,
    probabilities: new Probabilities(() => 0),
    knownHosts: new Set(),
    keywords: [],
    budgetTokens: 8_000,
    minProbability: 0.5,
    isCostAware: false,
    findTool: name => TOOLS.find(each => each.name === name),
    isUp: () => true,
    isInContext: () => false,
    isCached: () => false,
    observedTokens: () => undefined,
    ...more,
  }
}

interface Link {
  readonly probability?: number
  readonly requires?: string
  readonly trigger?: string
}

/** An offering of calls with these ids. */
function offering(target: string, ids: readonly (number | string)[], link: Link = {}): Offering {
  const { probability = 0.9, requires, trigger = 'list' } = link
  return {
    trigger,
    server: 's',
    link: { tool: target, probability, ...(requires === undefined ? {} : { requires }) },
    calls: ids.map((id, at) => ({
      args: JSON.stringify({ id }),
      hosts: id === 'https://a.b/x' ? ['a.b'] : [],
      rank: at + 1,
      listed: ids.length,
    })),
  }
}

function plan(offerings: readonly Offering[], more: Partial<PlanContext> = {}) {
  const { calls, declined, ...rest } = planCalls(offerings, contextOf(more))
  return {
    calls: calls.map(({ tool, args }) => `${tool.name} ${args}`),
    declined: declined.map(({ tool, args, reason }) => `${tool} ${args}: ${reason}`),
    ...rest,
  }
}

const keyOf = (name: string, args: string) => callKey('s', name, args)

// SOURCES.md#planner, "Knapsack algorithm"; contract, section 8, "Plan".
describe('a plan', () => {
  it('has the calls that are worth their tokens, and what they are worth', () => {
    expect(plan([offering('get', [1])])).toEqual({
      ...{ calls: ['get {"id":1}'], declined: [] },
      ...{ value: 0.9, cost_tokens: 256, bound: 0.9 },
    })
  })

  it('is empty without offers', () => {
    expect(plan([])).toEqual({ calls: [], declined: [], value: 0, cost_tokens: 0, bound: 0 })
  })

  it('has each projected call as its own item', () => {
    const { calls, declined, cost_tokens } = plan([offering('get', [1, 2])], {
      ...{ minProbability: 0.1, budgetTokens: 300 },
    })
    expect(calls).toEqual(['get {"id":1}'])
    expect(declined).toEqual(['get {"id":2}: budget'])
    expect(cost_tokens).toBe(256)
  })

  it('is ordered by value for a token', () => {
    const observedTokens = ({ name }: ListedTool) => (name === 'diff' ? 10 : undefined)
    const offerings = [offering('get', [1]), offering('diff', [1]), offering('comments', [1])]
    expect(plan(offerings, { observedTokens }).calls[0]).toBe('diff {"id":1}')
    const byNames = (_: ListedTool, names: string | undefined) => names?.length
    expect(plan([offering('get', [1])], { observedTokens: byNames }).cost_tokens).toBe(6)
  })

  it('has the same call once, with the higher probability', () => {
    const twice = [
      offering('get', [1], { probability: 0.6 }),
      offering('get', [1], { probability: 0.8, trigger: 'search' }),
      offering('get', [1], { probability: 0.7, trigger: 'other' }),
    ]
    const { calls, declined, value } = plan(twice)
    expect([calls, declined]).toEqual([['get {"id":1}'], []])
    expect(value).toBeCloseTo(0.8, 12)
  })

  // SOURCES.md#planner: self-loops are skipped.
  it('does not call a tool again with what its own result has', () => {
    expect(plan([offering('get', [1], { trigger: 'get' })])).toMatchObject({
      ...{ calls: [], declined: [] },
    })
  })

  // Contract, section 8, "Probability of use": in the predecessor it was only a filter.
  it('weighs calls by how probable they are', () => {
    const offerings = [
      offering('get', [1], { probability: 0.6 }),
      offering('diff', [1], { probability: 0.7 }),
    ]
    expect(plan(offerings, { budgetTokens: 256 }).calls).toEqual(['diff {"id":1}'])
  })

  it('takes fewer groups of fields if the budget has no room for all', () => {
    const models = modelsWith({
      user: {
        get: {
          ...READS,
          field_groups: {
            must_have: { fields: ['id'], estimated_value: 1 },
            nice_to_have: { fields: ['body'], estimated_value: 0.4 },
          },
        },
      },
    })
    const one = planCalls([offering('get', [1])], contextOf({ models, budgetTokens: 200 }))
    expect(one.calls[0]).toMatchObject({ include: ['must_have'], cost_tokens: 128 })
  })

  // SOURCES.md#planner, "Latency / dollar awareness".
  it('lets the slow wait only if it is cost-aware', () => {
    const offerings = [
      offering('get', [1], { probability: 0.6 }),
      offering('slow', [1], { probability: 0.9 }),
    ]
    expect(plan(offerings, { budgetTokens: 256 }).calls).toEqual(['slow {"id":1}'])
    const aware = plan(offerings, { budgetTokens: 256, isCostAware: true })
    expect(aware.calls).toEqual(['get {"id":1}'])
  })
})

describe('a call is declined', () => {
  it.each<[string, Offering, Partial<PlanContext>]>([
    ['get {"id":1}: below_probability', offering('get', [1], { probability: 0.4 }), {}],
    [
      'get {"id":1}: below_probability',
      offering('get', [1], { probability: 0 }),
      { minProbability: 0 },
    ],
    ['get {"id":1}: budget', offering('get', [1]), { budgetTokens: 255 }],
    ['get {"id":1}: budget', offering('get', [1]), { budgetTokens: 0 }],
    ['write null: not_speculatable', offering('write', [1]), {}],
    ['unknown null: not_speculatable', offering('unknown', [1]), {}],
    ['off null: tuned_off', offering('off', [1]), {}],
    ['get null: no_projection', offering('get', []), {}],
    ['get null: upstream_down', offering('get', [1]), { isUp: () => false }],
    [
      'get {"id":1}: in_context',
      offering('get', [1]),
      { isInContext: key => key === keyOf('get', '{"id":1}') },
    ],
    ['get {"id":1}: cached', offering('get', [1]), { isCached: () => true }],
    [
      'get {"id":"https://a.b/x"}: unsafe_argument',
      offering('get', ['https://a.b/x']),
      { findTool: name => tool(name, { isTrusted: false }) },
    ],
  ])('%s', (expected, offered, more) => {
    expect(plan([offered], more)).toMatchObject({ calls: [], declined: [expected] })
  })

  // The predecessor skipped every tool that was used lately.
  it('for being in the context as that call, not as its tool', () => {
    const isInContext = (key: string) => key === keyOf('get', '{"id":1}')
    const more = { isInContext, minProbability: 0.1 }
    expect(plan([offering('get', [1, 2])], more)).toMatchObject({
      ...{ calls: ['get {"id":2}'], declined: ['get {"id":1}: in_context'] },
    })
  })

  it('by the hosts that the model has called', () => {
    const findTool = (name: string) => tool(name, { isTrusted: false })
    const more = { findTool, knownHosts: new Set(['a.b']) }
    expect(plan([offering('get', ['https://a.b/x'])], more).calls.length).toBe(1)
    const context = contextOf(more)
    const call = { args: '{"id":"x"}', hosts: ['a.b'], rank: 1, listed: 1 }
    expect(screenArguments(tool('get'), call, context)).toBeNull()
    const open = tool('get', { isTrusted: false })
    expect(screenArguments(open, call, context)).toBeNull()
    expect(screenArguments(open, { ...call, hosts: null }, context)).toBe('unsafe_argument')
    expect(screenArguments(tool('write'), call, context)).toBe('not_speculatable')
  })
})

// Contract, section 8: `requires`, depth 2.
describe('a call that requires another', () => {
  const both = [offering('get', [1]), offering('comments', [], { requires: 'get' })]

  it('is planned with it and after it', () => {
    const { calls, value, cost_tokens } = planCalls(both, contextOf())
    expect(calls.map(({ tool, args, requires }) => [tool.name, args, requires])).toEqual([
      ['get', '{"id":1}', null],
      ['comments', null, 0],
    ])
    expect([value, cost_tokens]).toEqual([expect.closeTo(1.8, 12), 512])
  })

  it('is not planned if the budget has room for one', () => {
    expect(plan(both, { budgetTokens: 300 })).toMatchObject({
      ...{ calls: ['get {"id":1}'], declined: ['comments null: budget'] },
    })
  })

  it('never without it, however much more it is worth', () => {
    const observedTokens = ({ name }: ListedTool) => (name === 'get' ? 900 : 1)
    expect(plan(both, { budgetTokens: 500, observedTokens })).toMatchObject({
      ...{ calls: [], declined: ['get {"id":1}: budget', 'comments null: budget'] },
    })
  })

  it('has the reason of what it requires if that is declined', () => {
    expect(plan(both, { isCached: () => true }).declined).toEqual([
      ...['get {"id":1}: cached', 'comments null: cached'],
    ])
    expect(plan([both[1] as Offering]).declined).toEqual(['comments null: no_projection'])
    const missing = offering('comments', [], { requires: 'nothing' })
    expect(plan([missing]).declined).toEqual(['comments null: no_projection'])
  })

  it('is not required by a third one', () => {
    const third = offering('diff', [], { requires: 'comments' })
    expect(plan([...both, third]).declined).toEqual(['diff null: no_projection'])
  })

  it('is one of at most three', () => {
    const four = ['comments', 'diff', 'slow', 'comments'].map(name =>
      offering(name, [], { requires: 'get' }),
    )
    expect(plan([offering('get', [1]), ...four]).declined).toEqual([
      'comments null: parallel_limit',
    ])
  })

  it('is as probable as it, or less', () => {
    const offerings = [
      offering('get', [1], { probability: 0.6 }),
      offering('comments', [], { probability: 0.9, requires: 'get' }),
    ]
    expect(planCalls(offerings, contextOf()).calls[1]?.probability).toBe(0.6)
    const unlikely = offering('comments', [], { probability: 0.4, requires: 'get' })
    expect(plan([offering('get', [1]), unlikely]).declined).toEqual([
      'comments null: below_probability',
    ])
  })
})
