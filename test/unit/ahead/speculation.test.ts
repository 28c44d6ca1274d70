import { describe, expect, it } from 'vitest'
import {
  announcementOf,
  type FetchEvent,
  type Fetched,
  type Prefetch,
  type ScopedCall,
} from '../../../src/ahead/prefetch.ts'
import { Speculation, type SpeculationOptions } from '../../../src/ahead/speculation.ts'
import { OFFER } from '../../support/offer.ts'

const MIB = 1_024 * 1_024
const SCOPE = { tenant: 't', upstream: 'u', client: 'a' }
type Wanted = Omit<Prefetch<string>, 'fetch'>
const call = (id: number, more: Partial<ScopedCall> = {}): ScopedCall => ({
  ...{ scope: SCOPE, tool: 'get', args: `{"id":${id}}` },
  ...more,
})
const prefetch = (id: number, more: Partial<Wanted> = {}): Wanted => ({
  ...{ call: call(id), context: 'x', host: null },
  facts: { offer: OFFER, key: `${id}`, server: 'u', tool: 'get', session: null, predicted: 1 },
  ...more,
})
const usable = (result: string, more: Partial<Fetched<string>> = {}): Fetched<string> => ({
  ...{ result, bytes: 10 },
  ...more,
})

/** A fetch that the test ends. */
interface Pending {
  readonly call: ScopedCall
  readonly signal: AbortSignal
  resolve(fetched: Fetched<string>): Promise<void>
  reject(): Promise<void>
}

const settled = (_: unknown) => new Promise<void>(resolve => setImmediate(resolve))

function setUp(options: Partial<SpeculationOptions> = {}) {
  const clock = { now: 0 }
  const pending: Pending[] = []
  const events: FetchEvent[] = []
  const isRefusing = { now: false }
  const fetchOf = (call: ScopedCall) => (signal: AbortSignal) => {
    if (isRefusing.now) throw new Error('no')
    const { promise, resolve, reject } = Promise.withResolvers<Fetched<string>>()
    pending.push({
      ...{ call, signal },
      resolve: fetched => settled(resolve(fetched)),
      reject: () => settled(reject(new Error('down'))),
    })
    return promise
  }
  class Engine extends Speculation<string> {
    override prefetch(wanted: readonly Wanted[]) {
      return super.prefetch(wanted.map(each => ({ ...each, fetch: fetchOf(each.call) })))
    }
  }
  const engine = new Engine({
    now: () => clock.now,
    onEvent: event => void events.push(event),
    maxParallel: 3,
    respectsRateLimits: true,
    ...options,
  })
  const kinds = () => events.map(({ kind }) => kind)
  /** Fetches a call and lets it land. */
  const keep = async (id: number, more: Partial<Wanted> = {}, bytes = 10) => {
    engine.prefetch([prefetch(id, more)])
    await pending.at(-1)?.resolve(usable(`body ${id}`, { bytes }))
  }
  return { clock, pending, events, engine, isRefusing, kinds, keep }
}

// Contract, section 8, "Race" and "Cache"; SOURCES.md#planner, "Race strategy".
describe('a call that was fetched ahead', () => {
  it('is answered from its result, once', async () => {
    const { engine, pending, events, clock } = setUp()
    engine.prefetch([prefetch(1)])
    expect(engine.has(call(1))).toBe(true)
    clock.now = 70
    await pending[0]?.resolve(usable('body'))
    expect(engine.take(call(1))).toEqual({ kind: 'served', result: 'body' })
    expect(engine.take(call(1))).toBeNull()
    expect(events.map(({ kind, bytes, savedMs }) => [kind, bytes, savedMs])).toEqual([
      ['dispatched', 0, 0],
      ['served', 10, 70],
    ])
  })

  it('joins a fetch that is on its way', async () => {
    const { engine, pending, clock, events } = setUp()
    engine.prefetch([prefetch(1)])
    clock.now = 30
    const taken = engine.take(call(1))
    expect(taken?.kind).toBe('joined')
    // The fetch is that call's now: another one makes its own.
    expect([engine.take(call(1)), engine.has(call(1))]).toEqual([null, false])
    await pending[0]?.resolve(usable('body'))
    expect(taken?.kind === 'joined' && (await taken.result)).toBe('body')
    expect(events.at(-1)).toMatchObject({ kind: 'joined', savedMs: 30 })
    expect(engine.running).toBe(0)
  })

  it('joins one whose result is too large to be kept', async () => {
    const { engine, pending, kinds } = setUp()
    engine.prefetch([prefetch(1)])
    const taken = engine.take(call(1))
    await pending[0]?.resolve(usable('large', { bytes: 2 ** 21 }))
    expect(taken?.kind === 'joined' && (await taken.result)).toBe('large')
    engine.prefetch([prefetch(2)])
    await pending[1]?.resolve(usable('large', { bytes: 2 ** 21 }))
    expect(engine.take(call(2))).toBeNull()
    expect(kinds()).toEqual(['dispatched', 'joined', 'dispatched', 'wasted'])
  })

  it.each(['fails', 'is an error', 'is refused at once'])(
    'is made anyway if the fetch %s',
    async how => {
      const { engine, pending, isRefusing, kinds } = setUp()
      isRefusing.now = how === 'is refused at once'
      engine.prefetch([prefetch(1)])
      const taken = engine.take(call(1))
      if (how === 'fails') await pending[0]?.reject()
      if (how === 'is an error') await pending[0]?.resolve({ result: null, bytes: 10 })
      expect(taken?.kind === 'joined' ? await taken.result : null).toBeNull()
      expect(engine.take(call(1))).toBeNull()
      expect([kinds(), engine.running]).toEqual([['dispatched', 'wasted'], 0])
    },
  )

  it('is not answered with what is too old, counted from the begin of the fetch', async () => {
    const { engine, pending, clock, keep } = setUp()
    await keep(1, { ttlMs: 500 })
    await keep(2)
    clock.now = 500
    expect(engine.take(call(1))).toBeNull()
    clock.now = 29_999
    expect(engine.take(call(2))?.kind).toBe('served')
    engine.prefetch([prefetch(3, { ttlMs: 10 })])
    clock.now = 30_009
    expect(engine.take(call(3))).toBeNull()
    await pending.at(-1)?.resolve(usable('late'))
    expect(engine.take(call(3))).toBeNull()
  })

  it.each([
    ['tenant', { ...SCOPE, tenant: 'other' }],
    ['client', { ...SCOPE, client: 'other' }],
    ['server', { ...SCOPE, upstream: 'other' }],
  ])('is not answered with the result of another %s', async (_, scope) => {
    const { engine, keep } = setUp()
    await keep(1)
    expect(engine.take(call(1, { scope }))).toBeNull()
    expect(engine.take(call(1))?.kind).toBe('served')
  })
})

describe('a call that may change something', () => {
  it('drops what is known of its server, kept and on its way, before it is dispatched', async () => {
    const { engine, pending, keep, kinds } = setUp()
    const elsewhere = call(9, { scope: { ...SCOPE, upstream: 'v' } })
    await keep(1)
    await keep(9, { call: elsewhere })
    engine.prefetch([prefetch(2)])
    engine.beginMutation({ upstream: 'u', invalidates: [] })
    expect([engine.take(call(1)), engine.take(call(2))]).toEqual([null, null])
    expect(pending.at(-1)?.signal.aborted).toBe(true)
    await pending.at(-1)?.resolve(usable('old'))
    expect(engine.take(call(2))).toBeNull()
    expect(engine.take(elsewhere)?.kind).toBe('served')
    expect(kinds().filter(kind => kind === 'wasted').length).toBe(2)
  })

  it('lets nothing be fetched there until it has ended', async () => {
    const { engine } = setUp()
    const end = engine.beginMutation({ upstream: 'u', invalidates: [] })
    const { declined } = engine.prefetch([prefetch(1)])
    expect(declined).toEqual([{ call: call(1), reason: 'parallel_limit' }])
    end(true)
    expect(engine.prefetch([prefetch(1)]).declined).toEqual([])
  })

  it('is expected to have its effect for a minute if nobody knows its end', () => {
    const { engine, clock } = setUp()
    engine.beginMutation({ upstream: 'u', invalidates: [] })(false)
    clock.now = 59_999
    expect(engine.prefetch([prefetch(1)]).declined.length).toBe(1)
    clock.now = 60_000
    expect(engine.prefetch([prefetch(1)]).declined).toEqual([])
  })

  // SOURCES.md#planner, "Annotation taxonomy", 5: `Edit` makes results of `Read` stale.
  it('drops the results of the tools that it invalidates, of other servers too', async () => {
    const { engine, keep } = setUp()
    const read = (upstream: string) => call(1, { tool: 'Read', scope: { ...SCOPE, upstream } })
    await keep(1, { call: read('v') })
    await keep(1, { call: read('w') })
    await keep(2)
    engine.beginMutation({ upstream: 'x', invalidates: ['v__Read'] })(true)
    expect(engine.take(read('v'))).toBeNull()
    expect(engine.take(read('w'))?.kind).toBe('served')
    engine.beginMutation({ upstream: 'x', invalidates: ['get'] })(true)
    expect(engine.take(call(2))).toBeNull()
  })

  it('leaves a fetch alone that a call has joined', async () => {
    const { engine, pending } = setUp()
    engine.prefetch([prefetch(1)])
    const taken = engine.take(call(1))
    engine.beginMutation({ upstream: 'u', invalidates: [] })
    await pending[0]?.resolve(usable('body'))
    expect(taken?.kind === 'joined' && (await taken.result)).toBe('body')
  })

  it('is not the only reason: lists and resources change too', async () => {
    const { engine, keep } = setUp()
    await keep(1)
    engine.invalidateUpstream('v')
    expect(engine.has(call(1))).toBe(true)
    engine.invalidateUpstream('u')
    expect(engine.take(call(1))).toBeNull()
  })
})

describe('limits', () => {
  it('are 3 of a context at once', async () => {
    const { engine, pending } = setUp()
    const batch = engine.prefetch([1, 2, 3, 4].map(id => prefetch(id)))
    expect(batch.declined).toEqual([{ call: call(4), reason: 'parallel_limit' }])
    expect(engine.prefetch([prefetch(5, { context: 'y' })]).declined).toEqual([])
    await pending[0]?.reject()
    expect(engine.prefetch([prefetch(4)]).declined).toEqual([])
  })

  it('are 4 to a host, for all contexts, and what the host asks for', async () => {
    const { engine, pending, clock } = setUp()
    const host = 'api.github.com'
    const to = (id: number) => prefetch(id, { context: `${id}`, host })
    const batch = engine.prefetch([1, 2, 3, 4, 5].map(to))
    expect(batch.declined).toEqual([{ call: call(5), reason: 'host_saturated' }])
    expect(engine.prefetch([prefetch(6, { context: '6', host: 'b' })]).declined).toEqual([])
    await pending[0]?.resolve({ result: null, bytes: 10, retryAfterMs: 5_000 })
    expect(engine.prefetch([to(5)]).declined.length).toBe(1)
    clock.now = 5_000
    expect(engine.prefetch([to(5)]).declined).toEqual([])
  })

  it('to hosts do not count if the operator says so', () => {
    const { engine } = setUp({ respectsRateLimits: false })
    const to = (id: number) => prefetch(id, { context: `${id}`, host: 'a' })
    expect(engine.prefetch([1, 2, 3, 4, 5].map(to)).declined).toEqual([])
  })

  it('are 64 in all', () => {
    const { engine } = setUp()
    const many = Array.from({ length: 65 }, (_, id) => prefetch(id, { context: `${id}` }))
    expect(engine.prefetch(many).declined.length).toBe(1)
  })

  it('do not let the same call be fetched twice', async () => {
    const { engine, pending } = setUp()
    expect(engine.prefetch([prefetch(1), prefetch(1)]).declined).toEqual([
      { call: call(1), reason: 'cached' },
    ])
    await pending[0]?.resolve(usable('body'))
    expect(engine.prefetch([prefetch(1)]).declined[0]?.reason).toBe('cached')
  })
})

describe('kept results', () => {
  it('have at most 1 MiB each', async () => {
    const { engine, keep } = setUp()
    await keep(1, {}, MIB)
    await keep(2, {}, MIB + 1)
    expect([engine.has(call(1)), engine.has(call(2))]).toEqual([true, false])
  })

  it('have 64 MiB together; those that are too old go first, then those that came first', async () => {
    const { engine, keep, clock, kinds } = setUp()
    const wasted = () => kinds().filter(kind => kind === 'wasted').length
    for (let id = 0; id < 62; id++) await keep(id, {}, MIB)
    await keep(62, { ttlMs: 50 }, MIB)
    clock.now = 60
    await keep(63, {}, MIB)
    expect([engine.has(call(0)), engine.has(call(62)), wasted()]).toEqual([true, false, 1])
    await keep(64, {}, MIB)
    expect([engine.has(call(0)), engine.has(call(1)), wasted()]).toEqual([false, true, 2])
    expect(engine.bytes).toBeLessThanOrEqual(64 * MIB)
  })

  it('are a bounded number, however small', async () => {
    const { engine, keep } = setUp()
    for (let id = 0; id <= 4_096; id++) await keep(id, {}, 0)
    expect([engine.has(call(0)), engine.has(call(1))]).toEqual([false, true])
  })

  it('are fetched again when they are too old, and served as they are then', async () => {
    const { engine, keep, clock, kinds } = setUp()
    await keep(1, { ttlMs: 50 })
    clock.now = 50
    expect(engine.has(call(1))).toBe(false)
    await keep(1)
    expect(engine.take(call(1))?.kind).toBe('served')
    expect(engine.bytes).toBe(0)
    expect(kinds()).toEqual(['dispatched', 'wasted', 'dispatched', 'served'])
  })
})

// SOURCES.md#planner, "Race strategy": cancellation cascades on session shutdown.
describe('an end', () => {
  it('of a context aborts what it asked for, and drops it', async () => {
    const { engine, pending, keep } = setUp()
    await keep(1)
    await keep(2, { context: 'y' })
    engine.prefetch([prefetch(3)])
    engine.abortContext('x')
    expect(pending.at(-1)?.signal.aborted).toBe(true)
    expect([engine.take(call(1)), engine.take(call(3))]).toEqual([null, null])
    expect(engine.take(call(2))?.kind).toBe('served')
  })

  it('of a client does the same for what was fetched over its connections', async () => {
    const { engine, pending, keep } = setUp()
    const elsewhere = call(3, { scope: { ...SCOPE, client: 'b' } })
    await keep(1)
    await keep(3, { call: elsewhere })
    engine.prefetch([prefetch(2)])
    const joined = engine.take(call(2))
    engine.abortClient('a')
    await pending.at(-1)?.resolve(usable('late'))
    expect(engine.take(call(1))).toBeNull()
    expect(engine.take(elsewhere)?.kind).toBe('served')
    expect(joined?.kind === 'joined' && (await joined.result)).toBeNull()
  })
})

// Contract, section 8, "Race": only with `announce`.
describe('an announcement', () => {
  it('names what is there, while the other fetches go on', async () => {
    const { engine, pending } = setUp()
    const batch = engine.prefetch([
      ...[prefetch(1), prefetch(3)],
      prefetch(2, { call: call(2, { args: '{"a":"é]\\n"}' }) }),
    ])
    expect(announcementOf(batch)).toBeNull()
    await pending[2]?.resolve(usable('2'))
    await pending[1]?.reject()
    expect(announcementOf(batch)).toBe('> [prefetched: get(a="é\\u005d\\n")]')
    await pending[0]?.resolve(usable('1'))
    await batch.ended
    expect(announcementOf(batch)).toBe('> [prefetched: get(a="é\\u005d\\n"), get(id=1)]')
    expect(engine.take(call(1))?.kind).toBe('served')
  })
})
