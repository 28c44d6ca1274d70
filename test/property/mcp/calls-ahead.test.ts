import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SideEffect, ToolModel } from '../../../src/core/enrich/value-model.ts'
import {
  connectMemory,
  MemoryServer,
  makeEnrichment,
  type ReceivedCall,
} from '../../support/mcp/memory-gateway.ts'
import { leastHits } from '../../support/runs.ts'
import { fewRuns } from '../../support/short-runs.ts'

/** Each run has gateways of its own. `TEST_RUNS=17` makes them 100,000, which takes very long. */
const RUNS = fewRuns(6_000, 75)

const EFFECTS = ['pure', 'read_only', 'mutates_local', 'mutates_external', 'indeterminate'] as const
const READING: readonly (SideEffect | undefined)[] = ['pure', 'read_only']
const SERVERS = ['github', 's'] as const
/** Names with built-in models of all kinds, names without any, and names that deceive. */
const NAMES = [
  ...['list', 'Read', 'WebFetch', 'Edit', 'Bash', 'TodoWrite', 'list_issues', 'issue_write'],
  ...['x', 'use_context', 'a__Read', '__proto__', 'haversack_state'],
] as const
type Name = (typeof NAMES)[number]
/** Mostly a few, so that links lead to tools that are there. */
const someName = fc.constantFrom<Name>(
  ...NAMES,
  ...many('x'),
  ...many('Read'),
  ...many('list_issues'),
)

function many(name: Name): Name[] {
  return Array.from({ length: 8 }, () => name)
}

/** What is built in of these. */
function shippedClass(name: string, server: string): SideEffect | undefined {
  if (name === 'Read' || name === 'a__Read') return 'pure'
  if (name === 'WebFetch') return 'read_only'
  if (name === 'Edit') return 'mutates_local'
  if (server === 'github' && name === 'list_issues') return 'read_only'
  if (server === 'github' && name === 'issue_write') return 'mutates_external'
  return undefined
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

/** Definitions by bits, so that a change is another number. */
const definition = fc.record({
  readOnlyHint: fc.constantFrom(true, true, false, undefined),
  destructiveHint: fc.constantFrom(undefined, undefined, undefined, false, true),
  openWorldHint: fc.constantFrom(false, false, true, undefined),
  taskSupport: fc.constantFrom(undefined, undefined, undefined, 'optional', 'forbidden'),
})
type Definition = typeof definition extends fc.Arbitrary<infer T> ? T : never

const link = fc.record({
  tool: fc.oneof(
    someName,
    fc.tuple(fc.constantFrom(...SERVERS), someName).map(each => each.join('__')),
  ),
  probability: fc.constant(1),
  projection: fc.constantFrom('id', 'url'),
  projection_arg: fc.constant('key'),
  requires: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, someName),
})

const model: fc.Arbitrary<ToolModel> = fc
  .record({
    side_effect_class: maybe(fc.constantFrom(...EFFECTS)),
    speculate: fc.constantFrom(undefined, undefined, undefined, true, false),
    follow_up: maybe(fc.array(link, { maxLength: 3 })),
    invalidates: maybe(fc.array(fc.constantFrom(...NAMES), { maxLength: 2 })),
    poll_ttl_s: maybe(fc.constant(100)),
    fail_fast_after_n: maybe(fc.constant(1)),
  })
  .map(withoutUndefined)

const place = { server: fc.nat(1), tool: fc.oneof(fc.constant('list' as const), someName) }
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('call'),
      ...place,
      key: fc.constantFrom(0, 1, 2, 2, 2),
      client: fc.constantFrom(0, 0, 1),
      context: fc.constantFrom(null, null, 'x', 'y'),
      waits: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('follow'),
      server: fc.nat(1),
      link: fc.nat(2),
      key: fc.constantFrom(0, 1, 2),
      client: fc.constantFrom(0, 0, 1),
      context: fc.constantFrom(null, 'x'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('change'), ...place, to: definition }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart'), server: fc.nat(1) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('compact'), context: fc.constantFrom('x', 'y') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle') }) },
)

const world = fc.record({
  tools: fc.array(fc.record({ server: fc.nat(1), name: someName, definition }), {
    minLength: 2,
    maxLength: 8,
  }),
  trusted: fc.tuple(fc.boolean(), fc.constant(true)),
  user: fc.dictionary(fc.constantFrom('*', ...NAMES), model, { maxKeys: 4 }),
  links: fc.array(link, { minLength: 1, maxLength: 3 }),
  steps: fc.array(step, { minLength: 3, maxLength: 12 }),
  delays: fc.array(fc.nat(4), { minLength: 1, maxLength: 6 }),
  announceMs: fc.constantFrom(0, 5),
})
type WorldTerms = typeof world extends fc.Arbitrary<infer T> ? T : never

function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, each]) => each !== undefined)) as T
}

type Client = Awaited<ReturnType<typeof connectMemory>>
type CallTerms = Pick<
  Extract<WorldTerms['steps'][number], { do: 'call' }>,
  'server' | 'tool' | 'key' | 'context'
>

const KEYS = ['https://a.example/1', 'https://b.example/2', 'plain']
const BUILT_IN = ['Bash', 'TodoWrite']

/** A server whose state changes, and what the test knows of it. */
interface State {
  readonly server: MemoryServer
  readonly definitions: Map<Name, Definition>
  version: number
}

const hits = { ahead: 0, served: 0, mutations: 0 }

class World {
  readonly #terms: WorldTerms
  readonly #states: readonly State[]
  readonly #user: Record<string, ToolModel>
  readonly #called = new Set<string>()
  /** What is wrong with calls ahead. Thrown in a server it would be one more failed call. */
  readonly #faults: string[] = []
  #delay = 0
  #serial = 0

  constructor(terms: WorldTerms) {
    this.#terms = terms
    this.#user = { ...terms.user, list: { ...terms.user['list'], follow_up: terms.links } }
    this.#states = SERVERS.map((name, at) => {
      const own = terms.tools.filter(({ server }) => server === at)
      const definitions = new Map<Name, Definition>([
        ['list', { readOnlyHint: true, openWorldHint: false } as Definition],
        ...own.map(each => [each.name, each.definition] as const),
      ])
      const server = new MemoryServer(name, [], terms.trusted[at])
      const state = { server, definitions, version: 0 }
      server.tools = listed(definitions)
      server.handler = received => this.#answer(state, received)
      return state
    })
  }

  async run(): Promise<void> {
    const { announceMs } = this.#terms
    const servers = this.#states.map(({ server }) => server)
    const shared = makeEnrichment({
      tools: this.#user,
      settings: { announceMs, minProbability: 0 },
      observer: ({ kind }) => void (kind === 'served' && hits.served++),
    })
    const clients = [
      await connectMemory(servers, { shared }),
      await connectMemory(servers, { shared }),
    ]
    const running: Promise<void>[] = []
    for (const each of this.#terms.steps) {
      if (each.do === 'settle') await clients[0]?.settled()
      else if (each.do === 'restart') this.#states[each.server]?.server.restart()
      else if (each.do === 'compact') clients[0]?.compact(each.context)
      else if (each.do === 'change') this.#change(each.server, each.tool, each.to)
      else {
        const client = clients[each.client] as (typeof clients)[0]
        const made = each.do === 'call' ? this.#call(each, client.call) : this.#follow(each, client)
        running.push(made)
        if (each.do === 'follow' || each.waits) await made
      }
    }
    await Promise.all(running)
    await Promise.all(clients.map(({ gateway }) => gateway.close()))
    await clients[0]?.settled()
    expect(this.#faults).toEqual([])
    expect(shared.speculation.running).toBe(0)
    expect(clients.flatMap(({ bugs, asked }) => [...bugs, ...asked])).toEqual([])
  }

  /** Looks at a list, and then makes a call that it offers. */
  async #follow(
    { server, link, key, context }: Extract<WorldTerms['steps'][number], { do: 'follow' }>,
    { call, settled }: Client,
  ): Promise<void> {
    const { links } = this.#terms
    const target = links[link % links.length]?.tool as string
    await this.#call({ server, tool: 'list', key, context }, call)
    await settled()
    const [first, second] = target.split('__')
    const other = (SERVERS as readonly string[]).indexOf(first as string)
    const isQualified = other !== -1 && second !== undefined
    const tool = (isQualified ? target.slice((first as string).length + 2) : target) as Name
    await this.#call({ server: isQualified ? other : server, tool, key: 2, context }, call)
  }

  async #call({ server, tool, key, context }: CallTerms, call: Client['call']): Promise<void> {
    const state = this.#states[server] as State
    if (!state.definitions.has(tool)) return
    const host = URL.parse(KEYS[key] as string)?.host
    if (host !== undefined) this.#called.add(host)
    const before = state.version
    const more = { meta: { model: true }, ...(context === null ? {} : { context }) }
    const result = await call(`${SERVERS[server]}__${tool}`, { key: KEYS[key] }, more)
    if (result.isError === true || result.content === undefined) return
    // The state that it tells of held when the call was made, or came later.
    const seen = JSON.parse(result.content[0].text)
    expect(seen.version).toBeGreaterThanOrEqual(before)
    expect([seen.server, seen.tool, seen.key]).toEqual([state.server.name, tool, KEYS[key]])
  }

  #change(server: number, tool: Name, to: Definition): void {
    const { server: changed, definitions } = this.#states[server] as State
    if (tool === 'list') return
    definitions.set(tool, to)
    changed.tools = listed(definitions)
    changed.announce('notifications/tools/list_changed')
  }

  async #answer(state: State, { tool, args, call }: ReceivedCall): Promise<string> {
    const isAhead = !String(call.params).includes('"model":true')
    const { key } = JSON.parse(args)
    if (isAhead) {
      hits.ahead++
      this.#checkAhead(state, tool as Name, key)
    }
    const { delays } = this.#terms
    let rounds = delays[this.#delay++ % delays.length] as number
    const mutates = !this.#isReading(state, tool as Name)
    const isEarly = rounds % 2 === 0
    if (mutates && isEarly) state.version++
    const read = state.version
    for (; rounds > 0; rounds--) await new Promise(resolve => setImmediate(resolve))
    if (mutates && !isEarly) state.version++
    if (mutates) hits.mutations++
    const version = mutates ? state.version : read
    const body = { server: state.server.name, tool, key, version, serial: this.#serial++ }
    const list = [{ id: 'plain', url: KEYS[this.#delay % 2] }]
    return JSON.stringify({ content: [{ type: 'text', text: JSON.stringify({ ...body, list }) }] })
  }

  #checkAhead(state: State, name: Name, key: unknown): void {
    const definition = state.definitions.get(name)
    if (definition === undefined || !this.#mayBeCalledAhead(state, name, definition)) {
      this.#faults.push(`${state.server.name} ${name}`)
    }
    const isClosed = state.server.trusted && definition?.openWorldHint === false
    const host = typeof key === 'string' ? URL.parse(key)?.host : undefined
    if (host !== undefined && !isClosed && !this.#called.has(host)) this.#faults.push(host)
  }

  /** What the user states of a tool: the exact name wins over the bare one, `*` is for the rest. */
  #stated(name: Name, server: string): { own: ToolModel | undefined; used: ToolModel } {
    const user = this.#user
    const of = (key: string) => (Object.hasOwn(user, key) ? user[key] : undefined)
    const bare = name === 'a__Read' ? of('Read') : undefined
    const exact = of(name)
    const own = bare === undefined && exact === undefined ? undefined : { ...bare, ...exact }
    const hasModel =
      own !== undefined || BUILT_IN.includes(name) || shippedClass(name, server) !== undefined
    return { own, used: hasModel ? (own ?? {}) : (of('*') ?? {}) }
  }

  /** Whether a tool only reads, according to who is believed. The world is as believed. */
  #isReading({ server, definitions }: State, name: Name): boolean {
    const { readOnlyHint, destructiveHint } = definitions.get(name) ?? {}
    const shipped = shippedClass(name, server.name)
    const { used } = this.#stated(name, server.name)
    if (destructiveHint === true) return false
    if (used.side_effect_class !== undefined) return READING.includes(used.side_effect_class)
    if (!server.trusted) return false
    return shipped === undefined ? readOnlyHint === true : READING.includes(shipped)
  }

  /** The contract's paragraph "Eligible", said again without the code. */
  #mayBeCalledAhead(state: State, name: Name, definition: Definition): boolean {
    const { own, used } = this.#stated(name, state.server.name)
    const any = Object.hasOwn(this.#user, '*') ? this.#user['*'] : undefined
    if ((used.speculate ?? any?.speculate) === false) return false
    if (definition.taskSupport === 'optional') return false
    if (/context|haversack_/.test(name) || name === 'TodoWrite') return false
    if (!this.#isReading(state, name)) return false
    const isListed = own?.side_effect_class !== undefined || own?.speculate === true
    return (state.server.trusted && definition.openWorldHint === false) || isListed
  }
}

function listed(definitions: ReadonlyMap<Name, Definition>): readonly object[] {
  return [...definitions].map(([name, { taskSupport, ...annotations }]) => ({
    name,
    inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
    annotations,
    ...(taskSupport === undefined ? {} : { execution: { taskSupport } }),
  }))
}

// Contract, section 8: no wrong side effect, no stale result.
// The full number of runs may take an hour on a machine that is busy.
it('calls nothing ahead that may change something, and serves nothing stale', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(world, terms => new World(terms).run()),
    { numRuns: RUNS },
  )
  expect(hits.ahead).toBeGreaterThan(leastHits(RUNS / 5))
  expect(hits.served).toBeGreaterThanOrEqual(leastHits(RUNS / 100))
  expect(hits.mutations).toBeGreaterThan(leastHits(RUNS / 5))
})
