import { describe, expect, it } from 'vitest'
import { shippedModels } from '../../../../src/config/shipped-models.ts'
import type { ModelLayers } from '../../../../src/core/enrich/models.ts'
import type { PlanningTerms } from '../../../../src/core/enrich/plan.ts'
import { OPERATIONS } from '../../../../src/core/operations/registry.ts'
import { bytesOf, header, inlineRunner, workerSetup } from '../../../support/runner.ts'

const runBatch = inlineRunner(OPERATIONS, workerSetup())

const PLANNING: PlanningTerms = {
  ...{
    layers: { shipped: shippedModels() },
    budgetTokens: 8_000,
    minProbability: 0.1,
    isCostAware: false,
  },
}

const modelsOf = (layers: ModelLayers) => ({ layers: { ...PLANNING.layers, ...layers } })

/** The answer to a request, or the code of its failure. */
function plan(request: object, planning: Partial<PlanningTerms> | null = {}) {
  const bytes = bytesOf(JSON.stringify(request))
  const terms = { redeems: false, bypass: false, planning: { ...PLANNING, ...planning } }
  const fields = planning === null ? {} : { terms }
  const { outcomes, body } = runBatch({
    ...{ jobs: [header('plan', bytes, fields)], body: bytes.buffer, slot: 0 },
  })
  const [outcome] = outcomes
  if (outcome?.kind !== 'done') return outcome
  return JSON.parse(Buffer.from(body, outcome.start, outcome.length).toString())
}

const GREP = { tool: 'Grep', args: { pattern: 'x' }, result: 'src/a.ts:3:x\nsrc/b.ts:4:x' }

// Contract, section 8: `POST /v1/plan`.
describe('the plan of a host', () => {
  it('has the reads that follow a search', () => {
    expect(plan({ recent: [GREP], session: 's' })).toEqual({
      calls: [
        {
          ...{ tool: 'Read', args: '{"file_path":"src/a.ts"}', requires: null, include: null },
          ...{ probability: expect.closeTo(0.35, 9), cost_tokens: 640 },
          value: expect.closeTo(0.35, 9),
        },
        expect.objectContaining({ args: '{"file_path":"src/b.ts"}' }),
      ],
      declined: [{ tool: 'Edit', args: null, reason: 'not_speculatable' }],
      value: expect.closeTo(0.35 * 1.9, 9),
      bound: expect.closeTo(0.35 * 1.9, 9),
    })
  })

  it('follows the budget of the request, else that of the configuration', () => {
    const { calls, declined } = plan({ recent: [GREP], budget_tokens: 700 })
    expect([calls.length, declined.at(-1).reason]).toEqual([1, 'budget'])
    expect(plan({ recent: [GREP] }, { budgetTokens: 100 }).calls).toEqual([])
    // Models come with the terms.
    expect(plan({ recent: [GREP] }, null).calls).toEqual([])
    const { declined: improbable } = plan({ recent: [GREP] }, { minProbability: 0.4 })
    expect(improbable[0].reason).toBe('below_probability')
  })

  it('a plan heeds models that were mined', () => {
    const mined = { Read: { speculate: false } }
    expect(plan({ recent: [GREP] }, modelsOf({ mined })).declined[0].reason).toBe('tuned_off')
  })

  it('does not plan what was called', () => {
    const read = { tool: 'Read', args: { file_path: 'src/a.ts' } }
    const { calls, declined } = plan({ recent: [GREP, read] })
    expect(calls.map(({ args }: { args: string }) => args)).toEqual(['{"file_path":"src/b.ts"}'])
    expect(declined).toContainEqual({
      ...read,
      args: '{"file_path":"src/a.ts"}',
      reason: 'in_context',
    })
  })

  it('plans tools of servers only if the user lists them, and names them as the agent does', () => {
    const recent = [
      { tool: 'mcp__github__list_issues', args: {}, result: '[{"number":12345678901234567890}]' },
    ]
    const { calls, declined } = plan({ recent })
    expect([calls, declined[0]]).toEqual([
      [],
      { tool: 'mcp__github__get_issue_comments', args: null, reason: 'not_speculatable' },
    ])
    const tools = { get_issue_comments: { side_effect_class: 'read_only' } } as const
    expect(plan({ recent }, modelsOf({ user: tools })).calls).toMatchObject([
      {
        tool: 'mcp__github__get_issue_comments',
        args: '{"issue_number":12345678901234567890}',
      },
    ])
  })

  it('goes to hosts only that the agent has called', () => {
    const tools = { WebFetch: { speculate: true } }
    const search = { tool: 'WebSearch', result: '{"results":[{"url":"https://a.b/c"}]}' }
    expect(plan({ recent: [search] }, modelsOf({ user: tools })).declined[0].reason).toBe(
      'unsafe_argument',
    )
    const fetched = { tool: 'WebFetch', args: { url: 'https://a.b/' } }
    expect(plan({ recent: [fetched, search] }, modelsOf({ user: tools })).calls.length).toBe(1)
    expect(plan({ recent: [fetched, search] }).declined[0].reason).toBe('not_speculatable')
  })

  it('says how the arguments come about that are in no result yet', () => {
    const link = { probability: 0.9, projection: 'id', projection_arg: 'id' }
    const follow_up = [
      { tool: 'get', ...link },
      { tool: 'more', ...link, requires: 'get' },
    ]
    const reads = { side_effect_class: 'read_only' as const }
    const tools = { find: { follow_up }, get: reads, more: reads }
    expect(
      plan({ recent: [{ tool: 'find', result: '{"id":1}' }] }, modelsOf({ user: tools })).calls,
    ).toMatchObject([
      { tool: 'get', args: '{"id":1}', requires: null },
      { tool: 'more', args: null, requires: 0, projection: 'id', projection_arg: 'id' },
    ])
  })

  it('is empty without calls or results', () => {
    const nothing = { calls: [], declined: [], value: 0, bound: 0 }
    expect(plan({ recent: [] })).toEqual(nothing)
    expect(plan({ recent: [{ tool: 'Grep' }] })).toEqual(nothing)
  })

  it.each([
    ['no calls', {}],
    ['too many calls', { recent: Array(65).fill({ tool: 'a' }) }],
    ['a budget below nothing', { recent: [], budget_tokens: -1 }],
    ['an unknown field', { recent: [], tools: [] }],
  ])('is refused for %s', (_, request) => {
    expect(plan(request)).toMatchObject({ problem: { code: 'invalid_request' } })
  })
})
