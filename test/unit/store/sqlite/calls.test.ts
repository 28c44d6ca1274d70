import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSizes } from '../../../../src/store/parts/call-size.ts'
import { type CallLimits, createCalls } from '../../../../src/store/sqlite/calls.ts'
import type { ConnectionEvents } from '../../../../src/store/sqlite/connection.ts'
import type { Call, ToThread } from '../../../../src/store/sqlite/protocol.ts'
import type { StoreEvent } from '../../../../src/store/values/store-event.ts'

const MIB = 1024 * 1024
const KEPT = { ok: true, hash: 'f'.repeat(64), bytes: 1, expires_at: 0, created: true } as const

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A thread that the test plays. */
interface Played extends ConnectionEvents {
  readonly posted: ToThread[]
  readonly moved: (readonly ArrayBuffer[])[]
  terminated: boolean
}

async function callsOver(limits: Partial<CallLimits> = {}) {
  const threads: Played[] = []
  const events: StoreEvent[] = []
  const opening = createCalls({
    sizes: createSizes(),
    onEvent: event => events.push(event),
    limits: { maxCalls: 100, maxBytesWaiting: MIB, maxWaitMs: 1e9, ...limits },
    connect(handlers) {
      const thread: Played = { ...handlers, posted: [], moved: [], terminated: false }
      threads.push(thread)
      return {
        post(message, transfer) {
          thread.posted.push(message)
          thread.moved.push(transfer)
        },
        terminate: async () => {
          thread.terminated = true
        },
      }
    },
  })
  threads[0]!.onMessage({ kind: 'ready' })
  const calls = await opening
  const touch = (tenant = 'a') => calls.call('touch', [{ tenant, ref: 'f'.repeat(12) }])
  const put = (bytes: number, tenant = 'a') => {
    const body = new Uint8Array(bytes)
    return calls.call('put', [{ tenant, body, mediaType: 'x' }], [body.buffer])
  }
  return { calls, threads, events, touch, put }
}

/** All calls that a thread was given. */
function given({ posted }: Played): Call[] {
  return posted.flatMap(message => (message.kind === 'calls' ? message.calls : []))
}

function answer(thread: Played, call: Call, bytes = 0): void {
  const answers = [{ id: call.id, result: KEPT, us: 10 }]
  thread.onMessage({ kind: 'answers', answers, bytes })
}

describe('a call', () => {
  test('goes to the thread with those of its moment, and gets its own answer', async () => {
    const { calls, threads, touch, put } = await callsOver()
    const [first, second] = [put(10), touch()]
    expect(calls.load).toEqual({
      state: 'open',
      pending: 2,
      pending_bytes: 10,
      refused: 0,
      threads_lost: 0,
    })
    await turn()
    const [thread] = threads as [Played]
    expect(thread.posted).toHaveLength(1)
    expect(given(thread).map(({ op, bytes }) => [op, bytes])).toEqual([
      ['put', 10],
      ['touch', 0],
    ])
    expect(thread.moved[0]?.map(({ byteLength }) => byteLength)).toEqual([10])
    const [a, b] = given(thread) as [Call, Call]
    expect(a.id).not.toBe(b.id)
    const other = { ...KEPT, bytes: 2 }
    thread.onMessage({ kind: 'answers', answers: [{ id: b.id, result: other, us: 1 }], bytes: 0 })
    answer(thread, a)
    expect(await Promise.all([first, second])).toEqual([KEPT, other])
    expect(calls.load).toMatchObject({ pending: 0, pending_bytes: 0 })
    // An answer to no call changes nothing.
    answer(thread, a)
    expect(calls.load).toMatchObject({ pending: 0, pending_bytes: 0 })
  })

  test('is refused when too many wait, or too many bytes', async () => {
    const { calls, threads, touch, put } = await callsOver({ maxCalls: 3, maxBytesWaiting: 100 })
    void put(80)
    expect(await put(21, 'b')).toMatchObject({
      reason: 'busy',
      detail: 'the store’s queue is full',
    })
    void put(20, 'b')
    void touch('c')
    expect(await touch('d')).toMatchObject({ reason: 'busy' })
    expect(calls.load).toMatchObject({ pending: 3, pending_bytes: 100, refused: 2 })
    await turn()
    for (const call of given(threads[0]!)) answer(threads[0]!, call)
    void touch('d')
    expect(calls.load).toMatchObject({ pending: 1, pending_bytes: 0, refused: 2 })
  })

  test('is refused with how long it would wait, in whole seconds', async () => {
    const { calls } = await callsOver({ maxWaitMs: 1 })
    const get = () => calls.call('get', [{ tenant: 'a', ref: 'f'.repeat(12) }])
    const answers = Array.from({ length: 30 }, get)
    expect(await answers.at(-1)).toMatchObject({
      reason: 'busy',
      detail: 'the store would answer in 1 s',
    })
    expect(calls.load.refused).toBeGreaterThan(0)
    expect(calls.load.pending + calls.load.refused).toBe(30)
  })

  test('waits until the thread has done what it has', async () => {
    const { calls, threads } = await callsOver()
    const get = () => void calls.call('get', [{ tenant: 'a', ref: 'f'.repeat(12) }])
    for (let i = 0; i < 2; i++) get()
    await turn()
    const [thread] = threads as [Played]
    expect(given(thread)).toHaveLength(1)
    answer(thread, given(thread)[0]!)
    await turn()
    expect(given(thread)).toHaveLength(2)
  })
})

describe('answers that were read', () => {
  test('are reported with the next calls, or from a MiB on', async () => {
    const { threads, touch } = await callsOver()
    const [thread] = threads as [Played]
    const read = () => thread.posted.map(message => message.kind === 'calls' && message.read_bytes)
    const give = async (bytes: number) => {
      void touch()
      await turn()
      answer(thread, given(thread).at(-1)!, bytes)
      await turn()
    }
    await give(MIB - 1)
    expect(read()).toEqual([0])
    await give(1)
    expect(read()).toEqual([0, MIB - 1])
    await give(MIB)
    expect(read()).toEqual([0, MIB - 1, 1, MIB])
    await give(0)
    expect(read()).toEqual([0, MIB - 1, 1, MIB, 0])
  })
})

describe('the thread', () => {
  test('that cannot open the file fails the start with its reason', async () => {
    const start = (say: (events: ConnectionEvents) => void) =>
      createCalls({
        sizes: createSizes(),
        onEvent: () => {},
        limits: { maxCalls: 1, maxBytesWaiting: 1, maxWaitMs: 1 },
        connect(events) {
          queueMicrotask(() => say(events))
          return { post: () => {}, terminate: async () => {} }
        },
      })
    const unusable = start(({ onMessage, onEnd }) => {
      onMessage({ kind: 'unusable', detail: 'no disk' })
      onEnd('ended')
    })
    await expect(unusable).rejects.toThrow('no disk')
    await expect(start(({ onEnd }) => onEnd('killed'))).rejects.toThrow('killed')
  })

  test('tells its state and events', async () => {
    const { calls, threads, events } = await callsOver()
    threads[0]!.onMessage({ kind: 'state', state: 'salvaging' })
    expect(calls.load.state).toBe('salvaging')
    threads[0]!.onMessage({ kind: 'event', event: { kind: 'write_recovered' } })
    expect(events).toEqual([{ kind: 'write_recovered' }])
  })

  test('that is lost loses what it had, and only delays what it was never given', async () => {
    const { calls, threads, events, touch } = await callsOver()
    threads[0]!.onMessage({ kind: 'state', state: 'salvaging' })
    const get = () => calls.call('get', [{ tenant: 'a', ref: 'f'.repeat(12) }])
    const waiting = [get(), get()]
    await turn()
    threads[0]!.onEnd('out of memory')
    expect(await Promise.all(waiting)).toMatchObject([
      { reason: 'lost', detail: 'the store’s thread was lost' },
      { reason: 'busy', detail: 'the store is being started again' },
    ])
    expect(events).toEqual([{ kind: 'thread_lost', detail: 'out of memory' }])
    expect(calls.load).toMatchObject({ state: 'unavailable', threads_lost: 1, pending: 0 })
    expect(await touch()).toMatchObject({ reason: 'busy' })
    vi.advanceTimersByTime(100)
    threads[1]!.onMessage({ kind: 'ready' })
    expect(calls.load).toMatchObject({ state: 'open', refused: 1 })
    void touch()
    await turn()
    expect(given(threads[1]!)).toHaveLength(1)
    expect(threads[1]!.posted[0]).toMatchObject({ read_bytes: 0 })
  })

  test('that is lost again and again is replaced after pauses that double, up to five seconds', async () => {
    const { threads, events } = await callsOver()
    threads[0]!.onEnd('first')
    for (const pause of [100, 200, 400, 800, 1600, 3200, 5000, 5000]) {
      const before = threads.length
      vi.advanceTimersByTime(pause - 1)
      expect(threads).toHaveLength(before)
      vi.advanceTimersByTime(1)
      expect(threads).toHaveLength(before + 1)
      threads.at(-1)!.onEnd('again')
      await turn()
    }
    expect(events).toHaveLength(9)
    expect(events.at(-1)).toEqual({ kind: 'thread_lost', detail: 'again' })
    vi.advanceTimersByTime(5000)
    // One that was ready begins the pauses from the first.
    threads.at(-1)!.onMessage({ kind: 'ready' })
    const before = threads.length
    threads.at(-1)!.onEnd('later')
    vi.advanceTimersByTime(100)
    expect(threads).toHaveLength(before + 1)
  })
})

describe('closing', () => {
  test('waits for what was accepted, then for the end of the thread', async () => {
    const { calls, threads, touch } = await callsOver()
    const [thread] = threads as [Played]
    const call = touch()
    await turn()
    const closed = calls.close()
    expect(calls.close()).toBe(closed)
    expect(await touch()).toMatchObject({ reason: 'closed', detail: 'the store is closed' })
    await turn()
    expect(thread.posted).toHaveLength(1)
    answer(thread, given(thread)[0]!)
    expect(await call).toEqual(KEPT)
    await turn()
    expect(thread.posted.at(-1)).toEqual({ kind: 'close' })
    expect(thread.terminated).toBe(false)
    thread.onEnd('closed')
    await closed
    expect(thread.terminated).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
    expect(calls.load).toMatchObject({ state: 'unavailable', threads_lost: 0, refused: 0 })
  })

  test('waits ten seconds for a thread that does not answer, and as long for its end', async () => {
    const { calls, threads, touch } = await callsOver()
    const [thread] = threads as [Played]
    const call = touch()
    await turn()
    const closed = calls.close()
    await turn()
    vi.advanceTimersByTime(9999)
    await turn()
    expect(thread.posted.at(-1)).not.toEqual({ kind: 'close' })
    vi.advanceTimersByTime(1)
    expect(await call).toMatchObject({ reason: 'lost' })
    await turn()
    expect(thread.posted.at(-1)).toEqual({ kind: 'close' })
    vi.advanceTimersByTime(10_000)
    await closed
    expect(thread.terminated).toBe(true)
  })

  test('a thread that ends before it answers fails its calls, and is not replaced', async () => {
    const { calls, threads, events, touch } = await callsOver()
    const call = touch()
    const queued = calls.call('get', [{ tenant: 'a', ref: 'f'.repeat(12) }])
    const behind = calls.call('get', [{ tenant: 'a', ref: 'f'.repeat(12) }])
    await turn()
    const closed = calls.close()
    threads[0]!.onEnd('killed')
    expect(await Promise.all([call, queued, behind])).toMatchObject([
      { reason: 'lost' },
      { reason: 'lost' },
      { reason: 'closed' },
    ])
    await closed
    vi.advanceTimersByTime(10_000)
    expect(threads).toHaveLength(1)
    expect(events).toEqual([])
  })

  test('while there is no thread needs none', async () => {
    const { calls, threads } = await callsOver()
    threads[0]!.onEnd('lost')
    await calls.close()
    vi.advanceTimersByTime(10_000)
    expect(threads).toHaveLength(1)
  })
})
