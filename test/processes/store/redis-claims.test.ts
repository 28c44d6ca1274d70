import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FreshRecord } from '../../../src/core/contract/operation-result.ts'
import { createSharedRewrites } from '../../../src/store/sharing/shared-rewrites.ts'
import type { RecordClaim, Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import { must } from '../../unit/store/inline-store.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array) => new TextDecoder().decode(value)
const key = (id: string, byte = 1) => ({ id, key: Buffer.alloc(32, byte) })

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('claims of records', () => {
  let redis: RedisProcess

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  type Options = Parameters<typeof redisStore>[1]
  const claim = (name: string, value: string, more: Partial<RecordClaim> = {}): RecordClaim => {
    return { namespace: 'rewrites', key: name, value: bytes(value), ...more }
  }

  /** Stores of several processes, with what each claims and reads in short. */
  async function processes(count: number, options: Options = {}) {
    const { store, prefix, clock } = await redisStore(redis.url, options)
    const others = Array.from({ length: count - 1 }, () =>
      redisStore(redis.url, { ...options, prefix, clock }),
    )
    const stores = [store, ...(await Promise.all(others)).map(each => each.store)]
    return stores.map(each => ({
      store: each,
      prefix,
      async claim(...claims: RecordClaim[]) {
        const answer = await each.claims!.claim('t', claims)
        if (!answer.ok) return answer.reason
        const found = answer.records.map(record =>
          record.is === 'other' ? text(record.record.value) : record.is,
        )
        return [answer.isHeld ? 'held' : 'ok', ...found]
      },
      async read(name: string) {
        const found = await each.readRecord({ tenant: 't', namespace: 'rewrites', key: name })
        return found.ok ? text(found.value) : found.reason
      },
    }))
  }

  it('are written if nothing is there, and hold if the same is', async () => {
    const [one, two] = await processes(2)
    expect(await one!.claim(claim('a', '1'), claim('b', '2'))).toEqual(['ok', 'mine', 'mine'])
    expect(await two!.claim(claim('a', '1'), claim('c', '3'))).toEqual(['ok', 'same', 'mine'])
    expect([await two!.read('b'), await one!.read('c')]).toEqual(['2', '3'])
  })

  it('are not written at all if one of them is there otherwise', async () => {
    const [one, two] = await processes(2)
    await one!.claim(claim('b', 'first'))
    const answer = await two!.claim(claim('a', '1'), claim('b', 'second'), claim('c', '3'))
    expect(answer).toEqual(['held', 'absent', 'first', 'absent'])
    expect([await one!.read('a'), await one!.read('b')]).toEqual(['not_found', 'first'])
  })

  it('have one winner of ten processes at once, for all of a turn', async () => {
    const all = await processes(10)
    const names = ['a', 'b', 'c']
    const answers = await Promise.all(
      all.map((each, i) => each.claim(...names.map(name => claim(name, `${name}${i}`)))),
    )
    const won = answers.flatMap(([outcome], i) => (outcome === 'ok' ? [i] : []))
    expect(won).toHaveLength(1)
    for (const [i, answer] of answers.entries()) {
      if (i !== won[0]) expect(answer).toEqual(['held', ...names.map(name => `${name}${won[0]}`)])
    }
  })

  it('replace what the caller has seen, and nothing else', async () => {
    const [one, two] = await processes(2)
    await one!.claim(claim('a', '1'))
    const seen = await one!.store.readRecord({ tenant: 't', namespace: 'rewrites', key: 'a' })
    const known = seen.ok ? seen.version : -1
    const replacing = { as: 'replace', known } as const
    expect(await two!.claim(claim('a', '2', replacing))).toEqual(['ok', 'mine'])
    expect(await one!.claim(claim('a', '3', replacing))).toEqual(['held', '2'])
    expect(await one!.claim(claim('a', '4', { as: 'replace' }))).toEqual(['ok', 'mine'])
    expect(await two!.read('a')).toBe('4')
  })

  it('a question of a claim writes nothing', async () => {
    const [one] = await processes(1)
    expect(await one!.claim(claim('a', '', { as: 'question' }))).toEqual(['ok', 'absent'])
    await one!.claim(claim('a', '1'))
    const asked = await one!.claim(claim('a', '', { as: 'question' }), claim('b', '2'))
    expect(asked).toEqual(['held', '1', 'absent'])
  })

  it('write over nothing that this version cannot read', async () => {
    const [one, two] = await processes(2)
    await one!.claim(claim('a', '1'))
    const [name] = (await redis.ask('KEYS', `${one!.prefix}:*r:rewrites:*`)) as [string]
    await redis.ask('SETRANGE', name, '0', '\u0009')
    expect(await two!.claim(claim('a', '2'), claim('b', '3'))).toEqual([
      'held',
      'unknown',
      'absent',
    ])
    expect(await two!.read('b')).toBe('not_found')
  })

  it('find that the same is there under encryption, and nothing under a key that is missing', async () => {
    const options = { keys: [key('k1')] }
    const [one, two] = await processes(2, options)
    const { prefix } = one!
    await one!.claim(claim('a', '1'))
    expect(await two!.claim(claim('a', '1'), claim('b', '2'))).toEqual(['held', '1', 'absent'])
    const found = await two!.store.readRecord({ tenant: 't', namespace: 'rewrites', key: 'a' })
    const known = found.ok ? found.version : -1
    expect(await two!.claim(claim('a', '1', { known }), claim('b', '2'))).toEqual([
      'ok',
      'same',
      'mine',
    ])
    const [other] = await processes(1, { keys: [key('k2', 2)], prefix })
    expect(await other!.claim(claim('a', '3'))).toEqual(['held', 'unknown'])
    expect(await one!.read('a')).toBe('1')
  })

  it('are refused beyond the share of a tenant, and too large', async () => {
    const [one] = await processes(1, { tenantMaxBytes: 2_000, compressFromBytes: null })
    expect(await one!.claim(claim('a', 'x'.repeat(3_000)))).toBe('quota')
    expect(await one!.claim(claim('a', 'x'.repeat(5 * 1024 * 1024)))).toBe('too_large')
    expect(await one!.read('a')).toBe('not_found')
  })

  describe('of what proxies decide', () => {
    const record = (name: string, value: string, more: Partial<FreshRecord> = {}): FreshRecord => {
      return { key: name, bytes: bytes(value), position: null, ...more }
    }
    const NOTHING_ASKED = new Map<string, boolean>()
    /** How long any turn waits. */
    const WAIT_MS = 1_000
    const rewritesOf = (store: Store, overruled: string[]) =>
      createSharedRewrites({
        store,
        ttlMs: () => 60_000,
        onOverruled: (name, value) => void overruled.push(`${name}=${text(value)}`),
        retryMs: 20,
      })

    async function proxies(count: number, options: Options = {}) {
      const all = await processes(count, options)
      return all.map(({ store, read, prefix, claim: claimOf }) => {
        const overruled: string[] = []
        const rewrites = rewritesOf(store, overruled)
        const claimed = () => claimOf(claim('policy', 'x'))
        return { rewrites, overruled, read, prefix, claim: claimed }
      })
    }

    it('tell the second one what the first one has decided, and record the rest then', async () => {
      const [one, two] = await proxies(2)
      const first = [record('a', '1'), record('b', '2')]
      expect(await one!.rewrites.decide('t', first, NOTHING_ASKED)).toMatchObject({
        differs: false,
        others: 'recorded',
        found: {},
      })
      const second = [record('a', 'x'), record('c', 'after x')]
      const held = await two!.rewrites.decide('t', second, NOTHING_ASKED)
      expect(held).toMatchObject({ differs: true, found: { a: bytes('1') } })
      expect(await two!.read('c')).toBe('not_found')
      const asked = new Map([['a', true]])
      const again = await two!.rewrites.decide('t', [record('c', 'after 1')], asked)
      expect(again.others).toBe('recorded')
      expect(await one!.read('c')).toBe('after 1')
    })

    it('are the same under encryption, with one call more', async () => {
      const [one, two] = await proxies(2, { keys: [key('k')] })
      await one!.rewrites.decide('t', [record('a', '1')], NOTHING_ASKED)
      const second = [record('a', '1'), record('b', '2')]
      const decided = await two!.rewrites.decide('t', second, NOTHING_ASKED)
      expect(decided).toMatchObject({
        differs: false,
        others: 'recorded',
        found: { a: bytes('1') },
      })
      expect(Object.keys(decided.found)).toEqual(['a'])
      expect(await one!.read('b')).toBe('2')
    })

    it('of many results come in the order of the conversation, in several calls', async () => {
      const [one, two] = await proxies(2)
      const all = Array.from({ length: 150 }, (_, i) =>
        record(`r${i}`, `${i} ${'y'.repeat(3_000)}`),
      )
      expect((await one!.rewrites.decide('t', all, NOTHING_ASKED)).others).toBe('recorded')
      const later = [...all.slice(0, 149), record('r149', 'another'), record('new', '1')]
      const held = await two!.rewrites.decide('t', later, NOTHING_ASKED)
      expect(held.differs).toBe(true)
      expect(text(held.found['r149']!)).toMatch(/^149 y/)
      expect(await two!.read('new')).toBe('not_found')
    })

    it('are looked up still if the server takes nothing more', async () => {
      const [one, two] = await proxies(2)
      await one!.rewrites.decide('t', [record('a', '1')], NOTHING_ASKED)
      await redis.ask('CONFIG', 'SET', 'maxmemory', '1')
      try {
        const full = await two!.rewrites.decide('t', [record('a', 'x')], NOTHING_ASKED)
        expect(full).toMatchObject({ differs: true, others: 'unheard', found: { a: bytes('1') } })
      } finally {
        await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
      }
    })

    it('hold unrecorded while the server hangs, and are recorded after that', async () => {
      const [one, two] = await proxies(2, { callTimeoutMs: 300, probeMs: 20 })
      process.kill(redis.pid, 'SIGSTOP')
      const marked = record('a', 'with a marker')
      try {
        expect((await one!.rewrites.decide('t', [marked], NOTHING_ASKED)).others).toBe('unheard')
        // What was sent instead; its memory is freed once the request has left.
        const whole = record('a', 'whole')
        await one!.rewrites.record('t', [whole])
        for (const { buffer } of [marked.bytes, whole.bytes])
          structuredClone(buffer, { transfer: [buffer as ArrayBuffer] })
      } finally {
        process.kill(redis.pid, 'SIGCONT')
      }
      await eventually(async () => expect(await two!.read('a')).toBe('whole'))
      expect(one!.overruled).toEqual([])
    })

    it('are not replaced by what another process sent, which had claimed the same', async () => {
      const [one, two] = await proxies(2, { callTimeoutMs: 300, probeMs: 20 })
      await two!.rewrites.decide('t', [record('a', 'marked')], NOTHING_ASKED)
      process.kill(redis.pid, 'SIGSTOP')
      try {
        const earlier = { isEarlier: true } as const
        const marked = [record('a', 'marked', earlier)]
        expect((await one!.rewrites.decide('t', marked, NOTHING_ASKED)).others).toBe('unheard')
        await one!.rewrites.record('t', [record('a', 'whole', earlier)])
      } finally {
        process.kill(redis.pid, 'SIGCONT')
      }
      await eventually(() => expect(one!.overruled).toEqual(['a=marked']))
      expect(await two!.read('a')).toBe('marked')
    })

    it('wait through an outage if another process may have sent earlier results', async () => {
      const own = await startRedis()
      try {
        const options = { callTimeoutMs: 50, probeMs: 50 }
        const { store, prefix, clock } = await redisStore(own.url, options)
        const { store: second } = await redisStore(own.url, { prefix, clock })
        must(await second.claims!.claim('t', [claim('a', 'theirs')]))
        const waiting = { store, ttlMs: () => 60_000, onOverruled: () => {} }
        await eventually(() => expect(store.claims!.isDoubtful).toBe(false))
        process.kill(own.pid, 'SIGSTOP')
        const hasty = createSharedRewrites(waiting)
        const patient = createSharedRewrites({ ...waiting, waitMs: WAIT_MS, outageMs: 600_000 })
        const moved = patient.decide('t', [record('a', 'x', { isEarlier: true })], NOTHING_ASKED)
        const alone = hasty.decide('t', [record('n', '1')], NOTHING_ASKED)
        expect((await alone).others).toBe('unheard')
        await eventually(() => expect(store.claims!.awayMs).toBeGreaterThan(WAIT_MS))
        expect(store.claims!.isDoubtful).toBe(true)
        process.kill(own.pid, 'SIGCONT')
        expect(await moved).toMatchObject({ differs: true, found: { a: bytes('theirs') } })
      } finally {
        process.kill(own.pid, 'SIGCONT')
        await own.stop()
      }
    })

    it('do not wait for a server that answers, and takes nothing', async () => {
      const own = await startRedis()
      try {
        const options = { callTimeoutMs: 300, probeMs: 20, breakerFailures: 2 }
        const { store } = await redisStore(own.url, options)
        const waiting = { store, ttlMs: () => 60_000, onOverruled: () => {} }
        const patient = createSharedRewrites({ ...waiting, waitMs: 60_000, outageMs: 600_000 })
        const decide = (key: string) =>
          patient.decide('t', [record(key, 'x', { isEarlier: true })], NOTHING_ASKED)
        // As a replica of a primary that is gone it is read-only.
        await own.ask('REPLICAOF', '127.0.0.1', '1')
        for (const key of ['a', 'b', 'c']) expect((await decide(key)).others).toBe('unheard')
        await own.ask('REPLICAOF', 'NO', 'ONE')
        await eventually(async () => expect((await decide('d')).others).toBe('recorded'))
        await own.ask('CONFIG', 'SET', 'requirepass', 'other')
        await eventually(() => expect(store.claims!.awayMs).toBe(0))
      } finally {
        await own.stop()
      }
    })

    it('do not wait for another policy', async () => {
      const [one] = await proxies(1, { probeMs: 20 })
      await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
      try {
        await eventually(async () => expect(await one!.claim()).toBe('full'))
      } finally {
        await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
      }
    })

    it('give way to what another process has recorded on a server that had lost them', async () => {
      const own = await startRedis()
      try {
        const options = { callTimeoutMs: 60_000, probeMs: 20 }
        const { store, prefix, clock, events } = await redisStore(own.url, options)
        const overruled: string[] = []
        const rewrites = rewritesOf(store, overruled)
        const { store: second } = await redisStore(own.url, { ...options, prefix, clock })
        must(await second.claims!.claim('t', [claim('a', 'theirs')]))
        const [name] = (await own.ask('KEYS', `${prefix}:*r:rewrites:*`)) as [string]
        await own.ask('RENAME', name, 'theirs')
        await rewrites.decide('t', [record('a', 'ours')], NOTHING_ASKED)
        // What the server lost was written by the second process before the first one could.
        const lose = "local v = redis.call('GET', 'theirs') redis.call('FLUSHALL')"
        await own.ask('EVAL', `${lose} redis.call('SET', KEYS[1], v)`, '1', name)
        await eventually(() => expect(overruled).toEqual(['a=theirs']))
        expect(events.map(({ kind }) => kind)).toContain('other_server')
      } finally {
        await own.stop()
      }
    })

    it('give way to what another process has recorded meanwhile', async () => {
      const [one, two] = await proxies(2)
      await two!.rewrites.decide('t', [record('a', 'theirs')], NOTHING_ASKED)
      await one!.rewrites.record('t', [record('a', 'ours'), record('b', 'new')])
      await eventually(async () => expect(await two!.read('b')).toBe('new'))
      expect([one!.overruled, await two!.read('a')]).toEqual([['a=theirs'], 'theirs'])
    })

    it('take the place of one that is damaged', async () => {
      const [one, two] = await proxies(2)
      await one!.rewrites.decide('t', [record('a', 'long enough')], NOTHING_ASKED)
      const [name] = (await redis.ask('KEYS', `${one!.prefix}:*r:rewrites:*`)) as [string]
      await redis.ask('SETRANGE', name, '33', '?')
      const decided = await two!.rewrites.decide('t', [record('a', 'again')], NOTHING_ASKED)
      expect([decided.others, await one!.read('a')]).toEqual(['recorded', 'again'])
    })

    it('that cannot be followed are neither overwritten nor asked for for ever', async () => {
      const [one] = await proxies(1)
      await one!.rewrites.decide('t', [record('a', 'of a later version')], NOTHING_ASKED)
      const asked = new Map([['a', true]])
      const decided = await one!.rewrites.decide('t', [record('a', 'of this one')], asked)
      expect(decided).toEqual({ found: {}, differs: false, others: 'unheard' })
      expect(await one!.read('a')).toBe('of a later version')
    })
  })
})
