import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type Notice,
  revokedBy,
  tellReplicas,
  watchNotices,
} from '../../../../src/service/replicas/notices.ts'
import { recordStore } from '../../../support/record-store.ts'

const DAY_MS = 86_400_000
const START = 1_800_000_000_000
const revoke = (sha256: string) => ({ kind: 'revoke', sha256 }) as const
const restore = (sha256: string) => ({ kind: 'restore', sha256 }) as const
const purge = (tenant: string) => ({ kind: 'purge', tenant }) as const

describe('notices', () => {
  let shared: ReturnType<typeof recordStore>
  let now: number
  beforeEach(() => {
    vi.useFakeTimers()
    shared = recordStore()
    now = START
  })
  afterEach(() => vi.useRealTimers())

  /** A process; `heard` is what it was told last. */
  function follow(apply: (notices: readonly Notice[]) => boolean | Promise<boolean> = () => true) {
    const process = { heard: [] as readonly Notice[], calls: 0, bugs: [] as unknown[] }
    const notices = watchNotices({
      store: shared.store,
      now: () => now,
      async apply(all) {
        process.heard = all
        process.calls++
        return apply(all)
      },
      onBug: error => process.bugs.push(error),
    })
    return Object.assign(process, notices)
  }

  const second = () => vi.advanceTimersByTimeAsync(1_000)
  const newsOf = ({ heard }: { readonly heard: readonly Notice[] }) =>
    heard.map(({ id: _, atMs: __, ...news }) => news)

  it('reach every process, each once', async () => {
    const [one, two] = [follow(), follow()]
    await second()
    await tellReplicas(shared.store, [purge('acme')], now)
    two.tell([revoke('a')])
    await second()
    await second()
    expect([newsOf(one), newsOf(two)]).toEqual([
      [purge('acme'), revoke('a')],
      [purge('acme'), revoke('a')],
    ])
    const { calls } = one
    for (let i = 0; i < 5; i++) await second()
    expect(one.calls).toBe(calls)
  })

  it('are lost by none of many that tell at once', async () => {
    const told = Array.from({ length: 40 }, (_, i) =>
      tellReplicas(shared.store, [revoke(`${i}`)], now),
    )
    for (const each of await Promise.all(told)) expect(each.ok).toBe(true)
    const one = follow()
    await second()
    expect(one.heard).toHaveLength(40)
  })

  it('hold here at once, and are written when the store answers again', async () => {
    const one = follow()
    await second()
    shared.state.failure = { ok: false, reason: 'unavailable', detail: 'away' }
    one.tell([revoke('a')])
    await second()
    expect(newsOf(one)).toEqual([revoke('a')])
    shared.state.failure = null
    await second()
    const two = follow()
    await second()
    expect(newsOf(two)).toEqual([revoke('a')])
  })

  it('outlive a store that forgets them, in their order', async () => {
    const [one, two] = [follow(), follow()]
    await tellReplicas(shared.store, [revoke('a'), purge('acme')], now)
    await second()
    shared.records.clear()
    await tellReplicas(shared.store, [restore('a')], now)
    await second()
    await second()
    const three = follow()
    await second()
    for (const each of [one, two, three])
      expect(newsOf(each)).toEqual([revoke('a'), purge('acme'), restore('a')])
    expect([...revokedBy(three.heard)]).toEqual([])
  })

  it('are heard although an emptied store gives their version a second time', async () => {
    const one = follow()
    await tellReplicas(shared.store, [purge('acme')], now)
    await tellReplicas(shared.store, [purge('beta')], now)
    await second()
    const before = one.heard
    shared.empty()
    // Another process that knows them writes them again first, and then more come.
    const key = { tenant: ' service', namespace: 'notices', key: 'all' }
    const again = await shared.store.writeRecord({
      ...key,
      value: Buffer.from(JSON.stringify(before)),
    })
    expect(again).toMatchObject({ ok: true, version: 1 })
    await tellReplicas(shared.store, [purge('gamma')], now)
    await second()
    expect(newsOf(one)).toEqual([purge('acme'), purge('beta'), purge('gamma')])
  })

  it('that come while others are applied are applied as well', async () => {
    const applying = Promise.withResolvers<boolean>()
    const one = follow(() => applying.promise)
    one.tell([revoke('a')])
    await second()
    one.tell([revoke('b')])
    shared.state.failure = { ok: false, reason: 'unavailable', detail: 'away' }
    applying.resolve(true)
    await second()
    await second()
    expect(newsOf(one)).toEqual([revoke('a'), revoke('b')])
  })

  it('are applied again until that succeeds', async () => {
    let isReady = false
    const one = follow(() => isReady)
    await tellReplicas(shared.store, [purge('acme')], now)
    await second()
    await second()
    const { calls } = one
    expect(calls).toBeGreaterThan(1)
    isReady = true
    await second()
    await second()
    await second()
    expect(one.calls).toBe(calls + 1)
  })

  it('end: a revocation after a day, a purge after ninety', async () => {
    await tellReplicas(shared.store, [revoke('a'), purge('acme')], now)
    now += DAY_MS
    await tellReplicas(shared.store, [purge('beta')], now)
    const one = follow()
    await second()
    expect(newsOf(one)).toEqual([purge('acme'), purge('beta')])
    now += 89 * DAY_MS
    await tellReplicas(shared.store, [purge('gamma')], now)
    await second()
    expect(newsOf(one)).toEqual([purge('beta'), purge('gamma')])
  })

  it('are bounded: of too many the oldest leave, and no process brings them back', async () => {
    const one = follow()
    const some = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => revoke(`${from + i}`))
    await tellReplicas(shared.store, some(0, 1_000), now)
    await second()
    await tellReplicas(shared.store, some(1_000, 10), now)
    await second()
    await second()
    const two = follow()
    await second()
    expect(newsOf(two)).toEqual(some(10, 1_000))
    expect(one.bugs).toEqual([])
  })

  it('of a later version stay for those that can read them', async () => {
    const key = { tenant: ' service', namespace: 'notices', key: 'all' }
    const later = [
      { kind: 'pause', tenant: 'acme', id: '1', atMs: now },
      { kind: 'purge', tenant: { all: true }, id: '2', atMs: now },
    ]
    const value = Buffer.from(JSON.stringify(later))
    await shared.store.writeRecord({ ...key, value })
    const one = follow()
    one.tell([purge('beta')])
    await second()
    await second()
    expect(newsOf(one)).toEqual([purge('beta')])
    const record = await shared.store.readRecord(key)
    const kept = JSON.parse(record.ok ? Buffer.from(record.value).toString() : '[]')
    expect(kept.slice(0, 2)).toEqual(later)
    expect(one.bugs).toEqual([])
  })

  it('that are not readable count as none, and are replaced', async () => {
    const key = { tenant: ' service', namespace: 'notices', key: 'all' }
    const one = follow()
    for (const text of ['no JSON', '{}', '[{"kind":"of a later version"}]', '[null]']) {
      await shared.store.writeRecord({ ...key, value: Buffer.from(text) })
      await second()
      expect(one.heard).toEqual([])
    }
    await tellReplicas(shared.store, [purge('acme')], now)
    await second()
    expect(newsOf(one)).toEqual([purge('acme')])
    expect(one.bugs).toEqual([])
  })
})

it('a key is revoked by the last notice about it', () => {
  const at = { id: '', atMs: 0 }
  const all = [revoke('a'), revoke('b'), restore('a'), revoke('c'), restore('c'), revoke('c')]
  expect([...revokedBy(all.map(each => ({ ...each, ...at })))]).toEqual(['b', 'c'])
})
