import { describe, expect, it } from 'vitest'
import type { AgentTools } from '../../../../../src/core/contract/agent-tools.ts'
import type { RequestTerms } from '../../../../../src/core/contract/request-terms.ts'
import { kindOf } from '../../../../../src/core/conversation/prefix/longer-life.ts'
import { recordingProxy, type Store } from '../../../../support/recording-proxy.ts'
import { callableOf, refusalOf, type SearchedBody } from '../../../../support/searching-vendor.ts'
import { threadTime } from '../../../../support/thread-time.ts'

const ON = { cache_align: { defer: true } }
const LONG = 'It does something that takes many words to tell. '.repeat(120)

interface Definition {
  readonly name: string
  readonly description?: string
  readonly [key: string]: unknown
}

const tool = (name: string, more: object = {}): Definition => ({
  name,
  description: `${name}. ${LONG}`,
  input_schema: { type: 'object' },
  ...more,
})
const SEARCH = tool('ToolSearch', { description: 'Finds "deferred" tools.' })
const CLAUDE = [SEARCH, tool('Bash'), tool('Read'), tool('Workflow'), tool('Report')]
const OTHER = [tool('bash'), tool('read'), tool('task'), tool('fetch')]

function known(tools: readonly Definition[], of: Partial<AgentTools> = {}): AgentTools {
  const names = tools.map(({ name }) => name)
  return { kind: kindOf({ tools: names }), recent: ['Bash', 'Read', 'bash', 'read'], ...of }
}

function termsFor(tools: readonly Definition[], of: Partial<AgentTools> = {}): RequestTerms {
  const agentTools = [known(tools, of)]
  return { redeems: true, bypass: false, placesAt: 'api.anthropic.com', agentTools }
}

const call = (name: string, id: string) => ({ type: 'tool_use', id, name, input: {} })
const result = (id: string, content: unknown = 'ok') => ({
  type: 'user',
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
})
const reference = (name: string) => ({ type: 'tool_reference', tool_name: name })
const bySearch = (name: string) => ({
  type: 'tool_search_tool_result',
  tool_use_id: 's1',
  content: { type: 'tool_search_tool_search_result', tool_references: [reference(name)] },
})
const said = (...content: object[]) => ({ role: 'assistant', content })

function body(tools: readonly Definition[], turns: readonly object[] = [], more: object = {}) {
  return {
    model: 'claude-sonnet-4-5-20250929',
    system: 'Be good.',
    tools,
    messages: [{ role: 'user', content: 'Go.' }, ...turns],
    ...more,
  }
}

interface Sent extends SearchedBody {
  readonly system: string
}

function proxy(terms: RequestTerms, pipeline: object = ON, store: Store = new Map()) {
  const { send } = recordingProxy(pipeline, { store, terms })
  return (request: object) => {
    const { bytes, report } = send(request)
    const text = Buffer.from(bytes).toString()
    const sent = JSON.parse(text) as Sent
    expect(refusalOf(sent)).toBeNull()
    return { sent, report, text, deferred: deferredIn(sent) }
  }
}

const asked = said(call('bash', 't1'))
const deferredIn = ({ tools = [] }: SearchedBody) =>
  tools.filter(each => each.defer_loading === true).map(({ name }) => name)
const head = (text: string) => text.slice(0, text.indexOf('"messages"'))

describe('deferred tools', () => {
  it('are found by the search of the agent itself, which says their names', () => {
    const { sent, report, deferred } = proxy(termsFor(CLAUDE))(body(CLAUDE))
    expect(deferred).toEqual(['Workflow', 'Report'])
    expect(sent.tools?.map(({ name }) => name)).toEqual(CLAUDE.map(({ name }) => name))
    expect(sent.tools?.[0]?.['description']).toBe(
      'Finds "deferred" tools. More deferred tools, fetched by exact name ("select:NAME"): ' +
        'Workflow, Report.',
    )
    expect(sent.system).toBe('Be good.')
    expect(report.levers).toEqual(['defer'])
    const { tokens, deferred: spared, used } = report.definitions!
    expect([spared > 2_000, spared < tokens, used]).toEqual([true, true, 0])
    expect(report.saved?.[0]?.tokens).toBe(spared)
  })

  it('are searched by the provider for others, with their names after the instructions', () => {
    const { sent, deferred } = proxy(termsFor(OTHER))(body(OTHER))
    expect(deferred).toEqual(['task', 'fetch'])
    expect(sent.tools?.[0]).toEqual({
      type: 'tool_search_tool_bm25_20251119',
      name: 'tool_search_tool_bm25',
    })
    expect(sent.system).toBe(
      'Be good.\n\n<haversack_tools>More tools are deferred. Search for one by its name to load it: ' +
        'task, fetch.</haversack_tools>',
    )
  })

  it('stand beside what other levers do to tools and instructions', () => {
    const levers = {
      cache_align: { defer: true, normalise: true },
      steering: { verbosity: 'terse' },
    }
    const terms: RequestTerms = { ...termsFor(OTHER), addsTool: true }
    const { sent, deferred, report } = proxy(terms, levers)(body(OTHER))
    expect(deferred).toEqual(['fetch', 'task'])
    expect(sent.tools?.map(({ name }) => name)).toEqual([
      ...['tool_search_tool_bm25', 'bash', 'fetch', 'read', 'task', 'haversack_retrieve'],
    ])
    const ends = sent.tools?.filter(each => each['cache_control'] !== undefined)
    expect(ends?.map(({ name }) => name)).toEqual(['read'])
    expect(sent.system).toMatch(/haversack_output>\n\n<haversack_tools>/)
    expect(report.levers).toEqual(['verbosity', 'redeem', 'defer'])
    const own = proxy(termsFor(CLAUDE), levers)(body(CLAUDE))
    expect(own.deferred).toEqual(['Report', 'Workflow'])
    expect(own.sent.tools?.find(({ name }) => name === 'ToolSearch')?.['description']).toMatch(
      /select:/,
    )
  })

  const terms = termsFor(OTHER)
  it.each([
    ['is off', {}, {}, terms],
    ['has five conversations behind it', ON, {}, termsFor(OTHER, { recent: null })],
    ['is of a kind that is not known', ON, {}, termsFor(CLAUDE)],
    ['is of a client that drops searches', ON, {}, termsFor(OTHER, { dropsSearches: true })],
    ['is of a kind that was refused', ON, {}, termsFor(OTHER, { isRefused: true })],
    ['has a model without a search', ON, { model: 'claude-opus-4-1' }, terms],
    ['has a model that is not known', ON, { model: 'gpt-5' }, terms],
    ['goes elsewhere', ON, {}, { ...terms, placesAt: 'gateway.example' }],
    ['goes to Bedrock', ON, {}, { ...terms, placesAt: undefined }],
    ['is counted', ON, {}, { ...terms, countsOnly: true }],
    ['has no instructions', ON, { system: undefined }, terms],
    ['calls all of its tools', ON, {}, termsFor(OTHER, { recent: OTHER.map(t => t.name) })],
    ['calls none of its tools', ON, {}, termsFor(OTHER, { recent: [] })],
    [
      'is under way',
      ON,
      { messages: [...body(OTHER).messages, said({ type: 'text', text: '1' }), result('x')] },
      terms,
    ],
  ] as const)('are none if a conversation %s', (_, pipeline, more, of) => {
    const request = body(OTHER, [], more)
    expect(proxy(of as RequestTerms, pipeline)(request).text).toBe(JSON.stringify(request))
  })

  // By the documentation of its tool search.
  it.each([
    ...['opus-4-5', 'opus-4-6', 'opus-4-7', 'opus-4-8', 'sonnet-4-5', 'sonnet-4-6', 'haiku-4-5'],
    ...['fable-5', 'mythos-5', 'opus-5-5', 'sonnet-5', 'haiku-5-5'],
  ])('are searched by Claude %s', name => {
    expect(proxy(terms)(body(OTHER, [], { model: `claude-${name}` })).deferred).not.toEqual([])
  })

  it('are none that the provider refuses to defer', () => {
    const breakpoint = { cache_control: { type: 'ephemeral' } }
    const lists = [
      [...OTHER, tool('more', { input_examples: [{}] })],
      [...OTHER, tool('task')],
      [...OTHER, tool('tool_search_tool_bm25')],
      [...OTHER, { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }],
      [tool('task', breakpoint), tool('bash')],
      [tool('a b'), tool('bash')],
      [tool('task', { type: 'web_search_20260209' }), tool('bash')],
      [tool('task', { defer_loading: true }), tool('bash')],
      [
        tool('mcp__h__find_tools'),
        tool('mcp__h__call_tool'),
        tool('haversack_retrieve'),
        tool('bash'),
      ],
    ]
    for (const tools of lists) {
      const { send } = recordingProxy(ON, { terms: termsFor(tools) })
      const request = body(tools)
      expect(Buffer.from(send(request).bytes).toString()).toBe(JSON.stringify(request))
    }
  })

  it('are none that the instructions, the opening or the choice name', () => {
    const said = (more: object) => proxy(termsFor(OTHER))(body(OTHER, [], more)).deferred
    expect(said({ system: 'Use task.' })).toEqual(['fetch'])
    expect(said({ messages: [{ role: 'user', content: 'Now\nfetch it' }] })).toEqual(['task'])
    expect(said({ tool_choice: { type: 'tool', name: 'task' } })).toEqual(['fetch'])
    const send = proxy(termsFor(OTHER))
    send(body(OTHER, [], { tool_choice: { type: 'tool', name: 'task' } }))
    expect(send(body(OTHER, [asked, result('t1')])).deferred).toEqual(['fetch'])
    expect(said({ system: 'A multitask prefetches.' })).toEqual(['task', 'fetch'])
  })

  it('are the same in each request, in every process and after every change', () => {
    const store: Store = new Map()
    const loaded = said(bySearch('task'), call('task', 't1'))
    const turns = [[], [said(call('bash', 't0')), result('t0')], [loaded, result('t1')]]
    const of: [object, RequestTerms][] = [
      [ON, terms],
      [{}, termsFor(OTHER, { recent: null })],
      [ON, termsFor(OTHER, { recent: OTHER.map(({ name }) => name), dropsSearches: true })],
      [{ steering: { verbosity: 'terse' } }, { ...terms, agentTools: undefined } as never],
    ]
    const heads = new Set<string>()
    for (let i = 0; i < 12; i++) {
      const [pipeline, each] = of[i % of.length]!
      const so = turns.slice(0, i === 0 ? 1 : 2 + (i % 2)).flat()
      heads.add(head(proxy(each, pipeline, store)(body(OTHER, so)).text))
    }
    expect(heads.size).toBe(1)
  })

  it('are not counted as spared once they are loaded, and each search once', () => {
    const send = proxy(terms)
    const before = send(body(OTHER)).report.definitions!
    const turn = [said(bySearch('task'), call('task', 't1')), result('t1')]
    const { definitions, prefix_changed } = send(body(OTHER, turn)).report
    expect(before.deferred - definitions!.deferred).toBeGreaterThan(1_000)
    expect([definitions!.searches, definitions!.called, prefix_changed]).toEqual([
      1,
      ['task'],
      false,
    ])
    const later = [...turn, said(call('bash', 't2')), result('t2')]
    const { searches, used } = send(body(OTHER, later)).report.definitions!
    expect([searches, used > definitions!.used]).toEqual([0, true])
  })

  it('are counted by the search of the agent too', () => {
    const send = proxy(termsFor(CLAUDE))
    send(body(CLAUDE))
    const turn = [said(call('ToolSearch', 't1')), result('t1', [reference('Workflow')])]
    const { sent, report, deferred } = send(body(CLAUDE, turn))
    expect([deferred, report.definitions?.searches]).toEqual([['Workflow', 'Report'], 1])
    expect(callableOf(sent)).toContain('Workflow')
    // What it calls without is its own affair: it runs that.
    const guessed = [said(call('Report', 't2')), result('t2')]
    expect(send(body(CLAUDE, guessed)).deferred).toEqual(['Workflow', 'Report'])
  })

  it('come back for good if the client drops what the provider found, in one change', () => {
    const send = proxy(terms)
    send(body(OTHER))
    const turns = [said(call('task', 't1')), result('t1')]
    const first = send(body(OTHER, turns))
    expect(head(first.text)).toBe(head(JSON.stringify(body(OTHER))))
    expect([first.report.prefix_changed, first.report.definitions?.isDropped]).toEqual([true, true])
    const next = send(body(OTHER, [...turns, said(call('bash', 't2')), result('t2')]))
    expect(head(next.text)).toBe(head(first.text))
    expect(next.report.prefix_changed).toBe(false)
  })

  it('are callable if a later request must call them, or has another model', () => {
    const send = proxy(terms)
    send(body(OTHER))
    const turn = [said(call('bash', 't1')), result('t1')]
    const forced = send(body(OTHER, turn, { tool_choice: { type: 'tool', name: 'task' } }))
    expect(forced.deferred).toEqual(['fetch'])
    expect(send(body(OTHER, turn, { model: 'claude-3-5-haiku' })).deferred).toEqual([])
    expect(send(body(OTHER.slice(2), turn)).deferred).toEqual([])
  })

  it('are found in long lists and texts in linear time', () => {
    const tools = Array.from({ length: 5_000 }, (_, i) => tool(`t${i}`, { description: 'x' }))
    const request = body(tools, [], { system: 'word t9 '.repeat(50_000) })
    const of = termsFor(tools, { recent: ['t1'] })
    const { send } = recordingProxy(
      { cache_align: { defer: true, normalise: true } },
      { terms: of },
    )
    const bytes = JSON.stringify(request)
    const begun = threadTime()
    const { report } = send(bytes)
    expect(threadTime() - begun).toBeLessThan(1_500)
    expect(report.levers).toEqual(['tools', 'defer'])
  })
})
