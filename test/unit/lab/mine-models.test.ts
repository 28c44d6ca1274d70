import { describe, expect, it } from 'vitest'
import { ObjectValue } from '../../../src/core/json/value.ts'
import { mineModels, type TimedCall } from '../../../src/lab/speculation/mine-models.ts'
import { modelsWith } from '../../support/models.ts'

const call = (
  tool: string,
  args: Record<string, string>,
  text: string,
  more: Partial<TimedCall> = {},
): TimedCall => ({
  ...{ tool, text, isError: false, args: new ObjectValue(Object.keys(args), Object.values(args)) },
  ...more,
})

/** An issue that is found and then looked at, at a server behind a gateway. */
function session(n: number): TimedCall[] {
  const found = JSON.stringify([{ key: `K-${n}` }])
  return [
    call('mcp__haversack__jira__find', { text: `t${n}` }, found, { tookMs: 100 + n }),
    call('mcp__haversack__jira__show', { key: `K-${n}` }, 'x'.repeat(1_024 * (1 + (n % 10)))),
    call('other__log', { key: `K-${n}` }, 'no', { isError: true, tookMs: 5 }),
  ]
}

function mine(sessions: number, of = session) {
  return mineModels(Array.from({ length: sessions }, (_, n) => of(n)))
}

// Contract, section 7; SOURCES.md#planner, `tune from-claude-logs --tools`.
describe('mined models', () => {
  it('have sizes, times and links, by the names of the configuration', () => {
    const link = { projection: 'key', projection_arg: 'key', probability: 1 }
    expect(mine(20)).toEqual({
      jira__find: {
        cost_model: { typical_kb: 0.016, latency_ms_p50: 110 },
        follow_up: [
          { tool: 'show', ...link },
          { tool: 'other__log', ...link },
        ],
      },
      // Four of five results have at most 9 kB.
      jira__show: { cost_model: { typical_kb: 9 } },
    })
  })

  it('say nothing of too few results, and nothing of what a call changes', () => {
    expect(mine(4)).toEqual({})
    const reads = (n: number) => [call('get_all', {}, `${n}`), call('delete_all', {}, 'done')]
    const effects = Object.values(mine(30, reads)).map(model => Object.keys(model))
    expect(effects).toEqual([['cost_model'], ['cost_model']])
  })

  it('lie over those of providers, and under every field that the user states', () => {
    const shipped = modelsWith({}).find('list_issues', 'github').model
    expect(shipped.cost_model.typical_kb).not.toBe(7)
    const mined = { github__list_issues: { cost_model: { typical_kb: 7, latency_ms_p50: 90 } } }
    const user = { list_issues: { cost_model: { latency_ms_p50: 1 } } }
    const { model } = modelsWith({ mined, user }).find('list_issues', 'github')
    expect(model.cost_model).toMatchObject({ typical_kb: 7, latency_ms_p50: 1 })
    expect(model.follow_up).toEqual(shipped.follow_up)
    expect(model.side_effect_class).toBe('read_only')
  })
})
