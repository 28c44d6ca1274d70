import { describe, expect, it } from 'vitest'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import type { RecordedResult } from '../../../../src/lab/play/conversation.ts'
import type { PlayedResult } from '../../../../src/lab/play/play.ts'
import { collectStats } from '../../../../src/lab/rules/class-stats.ts'
import { PROFILE_RULES } from '../../../../src/lab/rules/profile-rules.ts'
import { proposed } from '../../../../src/lab/rules/proposal.ts'

const PLAYED: PlayedResult = {
  ...{ before: 10, after: 10, layer: 'L3', format: 'passthrough', shape: 'prose' },
  ...{ innerFormats: [], referred: 0, elided: 0, hints: 0 },
}

function result(more: Partial<RecordedResult>): RecordedResult {
  return {
    ...{ tool: 'Bash', args: {}, text: 'ok', is_error: false, call_id: undefined },
    ...{ model: undefined, class: 'Bash', agent: undefined, epoch: 0 },
    ...more,
  }
}

/** Proposals for conversations that have so many results. */
function proposals(
  sizes: readonly number[],
  one: (at: number, n: number) => Partial<RecordedResult>,
  config: object = {},
  timeOf = (_: number) => 0,
) {
  const seen = sizes.map((size, n) => {
    const results = Array.from({ length: size }, (_, at) => result(one(at, n)))
    return {
      conversation: { id: `c${n}`, results, lastMs: timeOf(n) },
      ...{ played: results.map(() => PLAYED), markers: [] },
    }
  })
  const { profiles } = pipelineSchema.parse(config)
  const found = proposed(PROFILE_RULES, [collectStats(seen), profiles], change => {
    return { ...change, isTooFew: false }
  })
  return found.map(({ rule, key, to }) => [rule, key.join('.'), to])
}

const VARIANTS = { profiles: { llm: { variants: { 'claude-opus-4*': {}, 'gpt-5': {} } } } }

describe('P1', () => {
  const models = (share: number) => (at: number) => ({
    model: at % 100 < share ? `claude-opus-4-${at % 2}-20260101` : 'gpt-5',
  })

  it('pins the variant that four in five results are of, also if the model was renamed', () => {
    const pin = ['P1', 'profiles.llm.active', 'claude-opus-4*']
    expect(proposals([100], models(80), VARIANTS)).toEqual([pin])
    expect(proposals([100], models(79), VARIANTS)).toEqual([])
  })

  it('pins nothing that no variant is for, or that is pinned already', () => {
    expect(proposals([100], models(100))).toEqual([])
    const pinned = { profiles: { llm: { ...VARIANTS.profiles.llm, active: 'gpt-5' } } }
    expect(proposals([100], models(100), pinned)).toEqual([])
    expect(proposals([100], () => ({}), VARIANTS)).toEqual([])
  })
})

describe('P2', () => {
  const reads = (share: number) => (at: number) => ({
    class: at % 10 < share ? 'Read' : 'go_test',
  })
  const agent = (name: string) => [['P2', 'profiles.agent.active', name]]

  it('knows a search by its reads, and long work by its compactions', () => {
    expect(proposals([20, 40], reads(5))).toEqual(agent('file_search_heavy'))
    expect(proposals([20, 40], reads(4))).toEqual([])
    expect(proposals([210], reads(9))).toEqual([])
    const long = (at: number) => ({ epoch: Math.floor(at / 150), class: 'Read' })
    expect(proposals([500], long)).toEqual(agent('marathon_refactor'))
    expect(proposals([400], long)).toEqual([])
  })

  it('reads the last 20 conversations by their times, and goes back when others came', () => {
    const early = Array<number>(30).fill(10)
    const one = (_: number, n: number) => ({ class: n < 20 ? 'Read' : 'go_test' })
    const search = { profiles: { agent: { active: 'file_search_heavy' } } }
    const timesOf = (sign: number) => (n: number) => 1_000 + sign * n
    expect(proposals(early, one, {}, timesOf(1))).toEqual(agent('file_search_heavy'))
    expect(proposals(early, one, {}, timesOf(-1))).toEqual(agent('file_search_heavy'))
    const ended = (_: number, n: number) => ({ class: n < 10 ? 'Read' : 'go_test' })
    expect(proposals(early, ended, search, timesOf(1))).toEqual(agent('default'))
    expect(proposals(early, ended, search, timesOf(-1))).toEqual([])
    const own = { profiles: { agent: { active: 'mine', variants: { mine: {} } } } }
    expect(proposals(early, ended, own, timesOf(1))).toEqual([])
  })

  it('proposes nothing that is in force', () => {
    const active = { profiles: { agent: { active: 'file_search_heavy' } } }
    expect(proposals([20], reads(9), active)).toEqual([])
  })
})

describe('P3', () => {
  const tool = (names: readonly string[]) => (at: number) => ({
    tool: names[at % names.length]!,
    class: names[at % names.length]!,
  })

  it('makes a variant for each tool of a server that none is for, the first of a name', () => {
    const names = ['mcp__a__get', 'mcp__b__get', 'mcp__b__list', 'Read', 'mcp__c__']
    expect(proposals([201], tool(names))).toEqual([
      ['P3', 'profiles.data.variants.get.endpoint_pattern', 'mcp__a__get'],
      ['P3', 'profiles.data.variants.list.endpoint_pattern', 'mcp__b__list'],
    ])
    const data = { variants: { all: { endpoint_pattern: 'mcp__b__' } } }
    expect(proposals([201], tool(names), { profiles: { data } })).toEqual([
      ['P3', 'profiles.data.variants.get.endpoint_pattern', 'mcp__a__get'],
    ])
  })
})
