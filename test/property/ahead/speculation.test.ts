import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Fetched, ScopedCall } from '../../../src/ahead/prefetch.ts'
import { Speculation } from '../../../src/ahead/speculation.ts'
import {
  addEvent,
  type EnrichmentEvent,
  noEffectiveness,
  ratesOf,
} from '../../../src/core/telemetry/effectiveness.ts'
import { OFFER } from '../../support/offer.ts'
import { leastHits } from '../../support/runs.ts'
import { fewRuns } from '../../support/short-runs.ts'

const RUNS = fewRuns(20_000, 120)

const UPSTREAMS = ['u', 'v'] as const
const TOOLS = ['get', 'list'] as const
const CONTEXTS = ['x', 'y'] as const
const TTL_MS = 400
const UNANSWERED_MS = 60_000

/** What a server did for a fetch: which state it read, and for whom. */
interface Body {
  readonly fetch: number
  readonly key: string
  readonly context: string
  readonly startedAt: number
  version: number | null
}

interface Pending {
  readonly body: Body
  readonly upstream: string
  finish(outcome: Fetched<Body> | null): void
}

interface Mutation {
  readonly upstream: string
  /** Whether it changes what the other server's tool `list` returns, too. */
  readonly spreads: boolean
  readonly end: (isAnswered: boolean) => void
  landed: boolean
  until: number
}

/** Mostly the first, so that calls often are the same. */
const mostly = <T>(usual: T, other: T) => fc.constantFrom(usual, usual, usual, usual, usual, other)

const callOf = fc.record({
  upstream: fc.constantFrom(...UPSTREAMS),
  tool: mostly('get', 'list'),
  client: mostly('c', 'd'),
  context: fc.constantFrom(...CONTEXTS),
  tenant: mostly('t', 's'),
})
type Caller = typeof callOf extends fc.Arbitrary<infer T> ? T : never

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('prefetch'), caller: callOf }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('call'), caller: callOf }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('read'), at: fc.nat(20) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('finish'),
      at: fc.nat(20),
      how: fc.constantFrom('usable', 'usable', 'usable', 'error', 'large', 'reject'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('mutate'),
      upstream: fc.constantFrom(...UPSTREAMS),
      spreads: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('land'), at: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('end'), at: fc.nat(20), answered: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('change'), upstream: fc.constantFrom(...UPSTREAMS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('leave'), context: fc.constantFrom(...CONTEXTS) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait'),
      ms: fc.constantFrom(50, 50, 200, 399, UNANSWERED_MS),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const hits = { served: 0, joined: 0, wasted: 0, refused: 0 }

/** A world of two servers whose state changes, and the engine under test between them and agents. */
class World {
  #now = 0
  readonly #versions = new Map<string, number>()
  readonly #pending: Pending[] = []
  readonly #mutations: Mutation[] = []
  readonly #delivered = new Set<number>()
  readonly #checks: Promise<void>[] = []
  readonly #leftAt = new Map<string, number>()
  #fetches = 0
  #counts = { dispatched: 0, served: 0, joined: 0, wasted: 0 }
  readonly engine = new Speculation<Body>({
    now: () => this.#now,
    onEvent: ({ kind }) => void this.#counts[kind]++,
    maxParallel: 3,
    respectsRateLimits: true,
  })
  #context = ''

  #fetch(call: ScopedCall): Promise<Fetched<Body>> {
    const { promise, resolve, reject } = Promise.withResolvers<Fetched<Body>>()
    const body = {
      ...{ fetch: this.#fetches++, key: JSON.stringify(call), context: this.#context },
      ...{ startedAt: this.#now, version: null },
    }
    const finish = (outcome: Fetched<Body> | null) =>
      outcome === null ? reject(new Error('down')) : resolve(outcome)
    this.#pending.push({ body, upstream: this.#stateOf(call), finish })
    return promise
  }

  /** What a call returns depends on its server and tool. */
  #stateOf({ scope, tool }: ScopedCall): string {
    return `${scope.upstream} ${tool}`
  }

  #version(state: string): number {
    return this.#versions.get(state) ?? 0
  }

  #bump(upstream: string, tools: readonly string[] = TOOLS): void {
    for (const tool of tools) {
      const state = `${upstream} ${tool}`
      this.#versions.set(state, this.#version(state) + 1)
    }
  }

  #land(mutation: Mutation): void {
    if (mutation.landed) return
    mutation.landed = true
    this.#bump(mutation.upstream)
    if (mutation.spreads) this.#bump(mutation.upstream === 'u' ? 'v' : 'u', ['list'])
  }

  #finish(pending: Pending, how: string): void {
    const { body, upstream, finish } = pending
    body.version ??= this.#version(upstream)
    const bytes = how === 'large' ? 2 ** 21 : 10
    finish(how === 'reject' ? null : { result: how === 'error' ? null : body, bytes })
  }

  /** Fails for a result that a call of the model must not get. */
  #check(body: Body, call: ScopedCall, calledAt: number, version: number): void {
    expect(body.key).toBe(JSON.stringify(call))
    expect(body.version).toBeGreaterThanOrEqual(version)
    expect(calledAt - body.startedAt).toBeLessThan(TTL_MS)
    expect(body.startedAt).toBeGreaterThanOrEqual(this.#leftAt.get(body.context) ?? 0)
    expect(this.#delivered.has(body.fetch)).toBe(false)
    this.#delivered.add(body.fetch)
  }

  async do(step: Step): Promise<void> {
    if ('caller' in step) this.#act(step.do, step.caller)
    else if (step.do === 'wait' && 'ms' in step) this.#now += step.ms
    else if ('context' in step) {
      this.engine.abortContext(step.context)
      // What is started later belongs to a new context of the same name.
      this.#leftAt.set(step.context, ++this.#now)
    } else if ('upstream' in step) this.#change(step)
    else this.#advance(step)
    for (let i = 0; i < 6; i++) await null
  }

  #act(what: string, { context, tool, ...scope }: Caller): void {
    const call = { scope, tool, args: '{}' }
    if (what === 'prefetch') {
      this.#context = context
      const { declined } = this.engine.prefetch([
        {
          ...{ call, context, host: null, ttlMs: TTL_MS, fetch: () => this.#fetch(call) },
          facts: { offer: OFFER, key: '', server: 'u', tool, session: null, predicted: 1 },
        },
      ])
      hits.refused += declined.length
      return
    }
    const [now, version] = [this.#now, this.#version(this.#stateOf(call))]
    const taken = this.engine.take(call)
    if (taken?.kind === 'served') this.#check(taken.result, call, now, version)
    if (taken?.kind !== 'joined') return
    const checked = taken.result.then(body => {
      if (body !== null) this.#check(body, call, now, version)
    })
    this.#checks.push(checked)
  }

  #change(step: Extract<Step, { upstream: string }>): void {
    if (!('spreads' in step)) {
      this.#bump(step.upstream)
      this.engine.invalidateUpstream(step.upstream)
      return
    }
    const { upstream, spreads } = step
    const invalidates = spreads ? ['list'] : []
    const end = this.engine.beginMutation({ upstream, invalidates })
    this.#mutations.push({ upstream, spreads, end, landed: false, until: Infinity })
  }

  #advance(step: Exclude<Step, { caller: Caller } | { ms: number } | { upstream: string }>): void {
    const at = 'at' in step ? step.at : 0
    const pending = this.#pending[at % Math.max(1, this.#pending.length)]
    const mutation = this.#mutations[at % Math.max(1, this.#mutations.length)]
    if (step.do === 'read' && pending !== undefined) {
      pending.body.version ??= this.#version(pending.upstream)
    } else if (step.do === 'finish' && pending !== undefined && 'how' in step) {
      this.#pending.splice(this.#pending.indexOf(pending), 1)
      this.#finish(pending, step.how)
    } else if (step.do === 'land' && mutation !== undefined) {
      // The effect of a call that ended without an answer is expected for a minute.
      if (this.#now < mutation.until) this.#land(mutation)
    } else if (step.do === 'end' && mutation !== undefined && 'answered' in step) {
      if (mutation.until !== Infinity) return
      if (step.answered) this.#land(mutation)
      mutation.until = step.answered ? this.#now : this.#now + UNANSWERED_MS
      mutation.end(step.answered)
    }
  }

  /** The rate is as counted by hand, although only some offers have an event. */
  #checkRate(dispatched: number): void {
    const used = this.#delivered.size
    const effectiveness = noEffectiveness()
    const add = (event: Partial<EnrichmentEvent>) =>
      addEvent(effectiveness, { is_dedup_hit: false, tokens_baseline: 1, ...event })
    for (const kind of ['served', 'joined', 'wasted'] as const) {
      for (let at = 0; at < this.#counts[kind]; at++) add({ enricher_fetch: kind })
    }
    for (let at = 0; at < used; at += 2) {
      add({ enricher_prefetched: true, cited_in_next_n_turns: true })
    }
    const { prefetch_hit } = ratesOf(effectiveness)
    expect(prefetch_hit).toBe(dispatched === 0 ? null : used / dispatched)
  }

  async end(): Promise<void> {
    for (const client of ['c', 'd']) this.engine.abortClient(client)
    for (const pending of this.#pending) this.#finish(pending, 'usable')
    await Promise.all(this.#checks)
    expect([this.engine.running, this.engine.bytes]).toEqual([0, 0])
    const { dispatched, served, joined, wasted } = this.#counts
    expect(dispatched).toBe(served + joined + wasted)
    this.#checkRate(dispatched)
    hits.served += served
    hits.joined += joined
    hits.wasted += wasted
  }
}

// Contract, section 8, "Cache": what is served is never stale, and never somebody else's.
it('serves no stale, foreign, repeated or abandoned result, in any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async steps => {
      const world = new World()
      for (const step of steps) await world.do(step)
      await world.end()
    }),
    { numRuns: RUNS },
  )
  for (const count of Object.values(hits)) expect(count).toBeGreaterThan(leastHits(RUNS / 20))
})
