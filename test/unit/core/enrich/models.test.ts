import { describe, expect, it } from 'vitest'
import { shippedModels } from '../../../../src/config/shipped-models.ts'
import { createModels, modelFaults } from '../../../../src/core/enrich/models.ts'
import { bareName, namesOf, serverOf } from '../../../../src/core/enrich/tool-names.ts'
import { modelsWith } from '../../../support/models.ts'

const builtIn = modelsWith()
const modelOf = (tool: string, server?: string) => builtIn.find(tool, server).model

describe('built-in models', () => {
  // SOURCES.md#planner, "Implementation status": built-in defaults of the top tools by side effect.
  it.each([
    ['Read', 'pure'],
    ['Grep', 'pure'],
    ['Glob', 'read_only'],
    ['WebSearch', 'read_only'],
    ['WebFetch', 'read_only'],
    ['ToolSearch', 'read_only'],
    ['Edit', 'mutates_local'],
    ['Write', 'mutates_local'],
    ['MultiEdit', 'mutates_local'],
    ['NotebookEdit', 'mutates_local'],
    ['Bash', 'indeterminate'],
    ['Agent', 'indeterminate'],
  ])('say that %s is %s', (tool, effect) => {
    expect(modelOf(tool).side_effect_class).toBe(effect)
  })

  // SOURCES.md#planner, "Real-world patterns": 3, 4 and 5 are links, 6 and 7 audit only, 8 fails
  // fast.
  it.each([
    ['Grep', 'Read', 0.35],
    ['Grep', 'Edit', 0.07],
    ['Glob', 'Read', 0.32],
    ['WebSearch', 'WebFetch', 0.65],
  ])('link %s to %s', (trigger, tool, probability) => {
    const link = modelOf(trigger).follow_up.find(each => each.tool === tool)
    expect(link?.probability).toBe(probability)
  })

  it.each(['TaskUpdate', 'TaskCreate', 'TaskGet', 'TaskList', 'TodoWrite'])(
    'keep %s out of every plan',
    tool => {
      expect(modelOf(tool).value_class).toBe('audit_only')
    },
  )

  it('let tool searches fail fast after two', () => {
    expect(modelOf('ToolSearch').fail_fast_after_n).toBe(2)
  })

  // SOURCES.md#planner, "Annotation taxonomy", 5: cross-tool invalidation.
  it('say what edits make stale', () => {
    expect(modelOf('Edit').invalidates).toEqual(['Read', 'Grep'])
    expect(modelOf('Write').invalidates).toEqual(['Read', 'Grep', 'Glob'])
  })
})

// SOURCES.md#planner, "Provider extensions": five providers, chains that read, mutating tools
// marked.
describe("providers' models", () => {
  it.each([
    ['gitlab', 'get_merge_requests', 'get_merge_request_discussions', 'merge_request_id', 0.62],
    ['github', 'list_issues', 'get_issue_comments', 'issue_number', 0.45],
    ['jira', 'get_issues', 'get_issue', 'key', 0.55],
    ['atlassian', 'searchJiraIssuesUsingJql', 'getJiraIssue', 'issueIdOrKey', 0.55],
    ['clickup', 'clickup_search', 'clickup_get_task', 'task_id', 0.5],
    ['fireflies', 'list_meetings', 'get_meeting_transcript', 'meeting_id', 0.55],
  ])('of %s link %s to %s by %s', (server, trigger, tool, argument, probability) => {
    const link = modelOf(trigger, server).follow_up.find(
      each => each.tool === tool && each.projection_arg === argument,
    )
    expect(link?.probability).toBe(probability)
    expect(modelOf(tool, server).side_effect_class).toBe('read_only')
  })

  it.each([
    ['gitlab', 'run_pipeline_job'],
    ['github', 'merge_pull_request'],
    ['jira', 'transition_issue'],
    ['clickup', 'clickup_update_task'],
  ])('of %s mark %s, and say what it makes stale', (server, tool) => {
    const { side_effect_class, invalidates } = modelOf(tool, server)
    expect(side_effect_class).toBe('mutates_external')
    expect(invalidates.length).toBeGreaterThan(2)
  })

  it('share the limits of a host', () => {
    expect(modelOf('list_issues', 'github').rate_limit_host).toBe('api.github.com')
    expect(modelOf('get_issues', 'clickup').rate_limit_host).toBe('api.clickup.com')
    expect(modelOf('list_meetings', 'my-fireflies').rate_limit_host).toBe('api.fireflies.ai')
    expect(modelOf('get_issues', 'gitlab').rate_limit_host).toBeUndefined()
  })

  it('need the name of their server', () => {
    expect(modelOf('get_issues').follow_up).toEqual([])
    expect(modelOf('mcp__gitlab__get_issues')).toEqual(modelOf('get_issues', 'gitlab'))
    expect(modelOf('github__list_issues')).toEqual(modelOf('list_issues', 'github'))
  })
})

describe('the lookup of a model', () => {
  const user = {
    mcp__a__read: { value_class: 'optional' },
    read: { value_class: 'supporting', poll_ttl_s: 4 },
    '*': { fail_fast_after_n: 7 },
  } as const

  it.each([
    ['mcp__a__read', undefined, 'optional'],
    ['read', 'a', 'optional'],
    ['mcp__b__read', undefined, 'supporting'],
    ['b__read', undefined, 'supporting'],
    ['read', undefined, 'supporting'],
  ] as const)('finds %s of %s as %s', (tool, server, expected) => {
    const { model } = modelsWith({ user }).find(tool, server)
    expect(model).toMatchObject({ value_class: expected, poll_ttl_s: 4 })
    expect(model.fail_fast_after_n).toBeUndefined()
  })

  // SOURCES.md#planner, "Provider extensibility": exact match, then the wildcard, then the global
  // default.
  it('takes "*" for tools that have no model, and the defaults without it', () => {
    expect(modelsWith({ user }).find('write').model.fail_fast_after_n).toBe(7)
    expect(modelsWith().find('write').model.value_class).toBe('critical')
    expect(modelsWith({ user }).find('*').model.fail_fast_after_n).toBe(7)
  })

  // SOURCES.md#planner, "Provider extensibility": three sources, merged right-wins.
  it('lays mined figures over built-in ones, and the user over both', () => {
    const models = modelsWith({
      mined: { Read: { cost_model: { typical_kb: 4, latency_ms_p50: 70 } } },
      user: { Read: { cost_model: { typical_kb: 5 } } },
    })
    expect(models.find('mcp__fs__Read').model).toMatchObject({
      cost_model: { typical_kb: 5, max_kb: 43, latency_ms_p50: 70 },
      side_effect_class: 'pure',
    })
  })

  it('takes names from anywhere', () => {
    for (const tool of [
      '__proto__',
      'constructor',
      '',
      '__',
      'a'.repeat(9_000),
      '__'.repeat(4_000),
    ]) {
      expect(builtIn.find(tool, '__proto__').model.value_class).toBe('critical')
    }
  })

  it('forgets what it remembers when there is too much', () => {
    const models = modelsWith({ user })
    for (let i = 0; i < 10_001; i++) models.find(`t${i}`)
    expect(models.find('read').model.poll_ttl_s).toBe(4)
  })
})

describe('who said what', () => {
  it('keeps the word of the user apart', () => {
    const models = modelsWith({
      mined: { a: { side_effect_class: 'pure', speculate: false }, b: { speculate: false } },
      user: { a: { speculate: true }, c: { side_effect_class: 'read_only' }, d: { poll_ttl_s: 1 } },
    })
    expect(models.find('a')).toMatchObject({
      ...{ userClass: undefined, shippedClass: undefined, forbiddenBy: undefined },
      ...{ isListed: true, isAsked: true },
    })
    expect(models.find('b')).toMatchObject({ forbiddenBy: 'mined', isListed: false })
    expect(models.find('c')).toMatchObject({ userClass: 'read_only', isListed: true })
    expect(models.find('d')).toMatchObject({ userClass: undefined, isListed: false })
  })

  it('lets "*" forbid for all tools but those that are named', () => {
    const models = modelsWith({ user: { '*': { speculate: false }, Read: { speculate: true } } })
    expect(models.find('Grep').forbiddenBy).toBe('user')
    expect(models.find('other').forbiddenBy).toBe('user')
    expect(models.find('Read').forbiddenBy).toBeUndefined()
  })

  // Contract, section 8: a configuration fault.
  it('reports speculate = true for a tool that changes something', () => {
    const user = {
      Edit: { speculate: true },
      mine: { speculate: true, side_effect_class: 'mutates_external' },
      Write: { speculate: true, side_effect_class: 'read_only' },
      Read: { speculate: true },
      '*': { speculate: true, side_effect_class: 'mutates_local' },
    } as const
    expect(modelFaults({ shipped: shippedModels(), user })).toEqual([
      'tools.Edit.speculate: must not be true, since the tool is mutates_local',
      'tools.mine.speculate: must not be true, since the tool is mutates_external',
      'tools.*.speculate: must not be true, since the tool is mutates_local',
    ])
  })
})

describe('names of tools', () => {
  it('are taken apart at each prefix', () => {
    expect(namesOf('mcp__a__b')).toEqual(['mcp__a__b', 'a__b', 'b'])
    expect(namesOf('b', 'a')).toEqual(['mcp__a__b', 'a__b', 'b'])
    expect(namesOf('a__b__c', 's')).toEqual([
      'mcp__s__a__b__c',
      's__a__b__c',
      'a__b__c',
      'b__c',
      'c',
    ])
  })

  it('a name of a tool names its server', () => {
    expect(serverOf('mcp__a__b')).toBe('a')
    expect(serverOf('a__b')).toBe('a')
    expect(serverOf('b')).toBeUndefined()
    expect(serverOf('mcp__b')).toBeUndefined()
    expect([bareName('mcp__a__b'), bareName('b')]).toEqual(['b', 'b'])
  })
})

it('a provider’s class of a tool goes over that of agents’ own tools', () => {
  const at = { models: { read: { side_effect_class: 'pure' } } } as const
  const of = { servers: ['db'], models: { read: { side_effect_class: 'mutates_local' } } } as const
  const models = createModels({ shipped: [at, of] })
  expect(models.find('read', 'a').shippedClass).toBe('pure')
  expect(models.find('read', 'my-db').shippedClass).toBe('mutates_local')
})
