import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pipelineSchema } from '../../../src/core/pipeline/profile/pipeline-config.ts'
import { sessionKey } from '../../../src/core/sessions/index/session-index.ts'
import type { SessionJournal } from '../../../src/store/store.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { runs } from '../../support/runs.ts'
import { sessionApp, sourceText } from '../../support/session-app.ts'
import { createSessionWorld, sessionStep } from '../../support/session-world.ts'
import { redisStore } from '../../support/store/redis-store.ts'

const RUNS = runs(12)

/** Counts how turns ended that were not opened. */
function countSettled(journal: SessionJournal, seen: { ok: number; conflict: number }): void {
  const settle = journal.settle.bind(journal)
  journal.settle = async turn => {
    const settled = await settle(turn)
    if (settled.ok) seen.ok++
    return settled
  }
  const restart = journal.restart.bind(journal)
  journal.restart = session => {
    seen.conflict++
    return restart(session)
  }
}

/** The calls that the server has had for requests since the last time. */
async function callsOf(redis: RedisProcess): Promise<number> {
  const log = (await redis.ask('SLOWLOG', 'GET', '-1')) as (readonly (readonly string[])[])[]
  await redis.ask('SLOWLOG', 'RESET')
  const names = log.flatMap(entry => {
    const [verb = '', name = ''] = entry[3] as readonly string[]
    return verb.startsWith('FCALL') ? [name] : verb === 'MGET' ? [verb] : []
  })
  // These are not for a request.
  return names.filter(name => !/_(?:note_contact|note_process|sweep)$/.test(name)).length
}

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('three replicas on one Redis', () => {
  let redis: RedisProcess

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  /** A store for each of several processes. */
  async function processes(count: number) {
    const { store, clock, prefix } = await redisStore(redis.url)
    const others = Array.from({ length: count - 1 }, () => redisStore(redis.url, { clock, prefix }))
    return { stores: [store, ...(await Promise.all(others)).map(each => each.store)], clock }
  }

  /** Two replicas, and what each encodes and says of the session `s`. */
  async function two() {
    const { stores, clock } = await processes(2)
    return stores.map(store => sessionApp({ store, clock, isShared: true })) as [App, App]
  }
  type App = ReturnType<typeof sessionApp>
  const content = sourceText('a')
  const read = (tool_call_id: string) => {
    return { content, session: 's', tool: 'Read', args: { file_path: 'a.ts' }, tool_call_id }
  }

  it('say of a session what all of them did there', async () => {
    const [one, other] = await two()
    expect(await one.call('GET', '/v1/sessions/s')).toMatchObject({ status: 404 })
    await one.encode(read('c1'))
    const again = await other.encode(read('c2'))
    expect(again.format).toBe('ref@1')
    for (const app of [one, other]) {
      expect(await app.call('GET', '/v1/sessions/s')).toMatchObject({
        results: 2,
        entries: 1,
        references: { exact: 1 },
      })
    }
    expect(await one.call('DELETE', '/v1/sessions/s')).toMatchObject({ results: 2 })
    expect(await other.call('GET', '/v1/sessions/s')).toMatchObject({ status: 404 })
    expect((await other.encode(read('c3'))).format).not.toBe('ref@1')
  })

  it('forget what has ended for all, and no session that only one of them has', async () => {
    const [one, other] = await two()
    await one.encode(read('c1'))
    await other.call('DELETE', '/v1/sessions/s')
    expect(await one.post('/v1/sessions/s/compaction', {})).toMatchObject({ status: 404 })
    expect(await one.call('GET', '/v1/sessions/s')).toMatchObject({ status: 404 })
    // As the gateway does it for a context of MCP.
    one.sessions.index.begin(sessionKey('acme', 'context'), { timeMs: 1 })
    expect(await one.call('GET', '/v1/sessions/context')).toMatchObject({ results: 1 })
    expect(await one.post('/v1/sessions/context/compaction', {})).toMatchObject({ partition: 1 })
    expect(await other.post('/v1/sessions/context/compaction', {})).toMatchObject({ status: 404 })
  })

  it('make results stale for each other, and count them', async () => {
    const [one, other] = await two()
    await one.encode(read('c1'))
    const stale = { file_paths: ['./a.ts'] }
    expect(await other.post('/v1/sessions/s/invalidate', stale)).toMatchObject({ invalidated: 1 })
    expect((await one.encode(read('c2'))).format).not.toBe('ref@1')
    expect((await other.encode(read('c3'))).format).toBe('ref@1')
    // A write does so too.
    await one.encode({ ...read('c4'), content: 'ok', tool: 'Write' })
    expect((await other.encode(read('c5'))).format).not.toBe('ref@1')
  })

  it('tell a chain of searches that all of them saw, and a retry the same', async () => {
    const { stores, clock } = await processes(2)
    const pipeline = pipelineSchema.parse({ hints: { types: { search_chain: {} } } })
    const apps = stores.map(store => sessionApp({ store, clock, pipeline, isShared: true }))
    const search = (i: number) => {
      const hits = Array.from(
        { length: 40 },
        (_, hit) => `/src/deep/module${i}.ts:${hit}: ${hit * i}`,
      )
      return { session: 's', tool: 'Grep', tool_call_id: `c${i}`, content: hits.join('\n') }
    }
    const answers = []
    for (const i of [1, 2, 3, 4, 5, 6]) answers.push(await apps[i % 2]!.encode(search(i)))
    const notes = answers.map(({ hints }) => hints.map(({ text }) => text))
    expect(notes).toEqual([[], [], [], [], ['> [5 of 7 calls searched. read what they found]'], []])
    for (const i of [6, 5, 4]) {
      for (const app of apps) expect(await app.encode(search(i))).toEqual(answers[i - 1])
    }
  })

  it('give a retry the answer of its first try, on any of them', async () => {
    const [one, other] = await two()
    await one.encode(read('c1'))
    const first = await other.encode(read('c2'))
    expect(first.format).toBe('ref@1')
    await other.encode({ ...read('c3'), content: sourceText('b') })
    expect(await one.encode(read('c2'))).toEqual(first)
    expect(await one.call('GET', '/v1/sessions/s')).toMatchObject({ results: 3 })
  })

  it('number the jobs of a batch in their order', async () => {
    const [one, other] = await two()
    const read = (i: number) => ({ content: sourceText(`file ${i}`), session: 's', tool: 'Read' })
    const jobs = Array.from({ length: 250 }, (_, i) => ({ op: 'encode', ...read(i) }))
    await redis.ask('FUNCTION', 'FLUSH')
    await one.post('/v1/batch', { jobs })
    for (const [turn, i] of [0, 101, 249].entries()) {
      const { content } = await other.encode(read(i))
      expect(Number(/(\d+) calls? ago/.exec(content)?.[1])).toBe(250 - i + turn)
    }
    expect(await one.call('GET', '/v1/sessions/s')).toMatchObject({ results: 253 })
  })

  it.each([
    ['enough', { bodyBytes: 1 << 22, hasCallIds: true }],
    ['little', { bodyBytes: 1 << 16, hasCallIds: false }],
    ['enough', { bodyBytes: 1 << 22, hasCallIds: true, calmTurns: 0 }],
  ])('give true answers at every turn, with %s memory (%j)', async (_, options) => {
    const isStaying = 'calmTurns' in options
    const { stores, clock } = await processes(isStaying ? 2 : 3)
    const settled = { ok: 0, conflict: 0 }
    for (const { journal } of stores) countSettled(journal!, settled)
    const world = createSessionWorld({
      ...options,
      ...{ stores, clock, conflicts: () => settled.conflict },
    })
    await fc.assert(
      fc.asyncProperty(fc.array(sessionStep, { minLength: 10, maxLength: 40 }), async steps => {
        world.begin()
        for (const each of steps) await world.run(each)
      }),
      { numRuns: isStaying ? 2 * RUNS : RUNS, endOnFailure: true },
    )
    expect(world.seen.lines).toBeGreaterThan(0)
    expect(world.seen.moved).toBeGreaterThan(50)
    // Sessions were taken to stay, and often did not.
    if (isStaying) expect(Math.min(settled.ok, settled.conflict)).toBeGreaterThan(3)
  })

  it('need one call of Redis for a turn of a session that stays, and two of one that moves', async () => {
    const { stores, clock } = await processes(2)
    const apps = stores.map(store => sessionApp({ store, clock, isShared: true, calmTurns: 8 }))
    await redis.ask('CONFIG', 'SET', 'slowlog-max-len', '10000', 'slowlog-log-slower-than', '0')
    /** Calls a turn of a session, of which half are new and half refer to one from before. */
    const callsATurn = async (name: string, turn: (i: number) => App) => {
      await callsOf(redis)
      for (let i = 0; i < 40; i++) {
        const session = { session: name, content: sourceText(`${name} ${i >> 1}`) }
        const sent = await turn(i).encode({ ...read(`${name} ${i}`), ...session })
        expect(sent.format === 'ref@1').toBe(i % 2 === 1)
      }
      return (await callsOf(redis)) / 40
    }
    // The first turns are opened, until the session seems to stay.
    expect(await callsATurn('first', () => apps[0]!)).toBeLessThan(1.4)
    expect(await callsATurn('stays', () => apps[0]!)).toBeLessThanOrEqual(1.05)
    // Texts from the other process come along.
    expect(await callsATurn('moves', i => apps[i % 2]!)).toBeLessThanOrEqual(2.05)
    await redis.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '-1')
  })
})
