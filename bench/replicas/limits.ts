import type { Store } from '../../src/store/store.ts'
import { type RedisProcess, startRedis } from '../../test/support/redis-server.ts'
import { prose } from '../store/bodies.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { percentile } from '../support/statistics.ts'
import { openShared } from './open-shared.ts'
import { meterThread } from './thread-meter.ts'

/** A function that takes longer is a finding. */
const LONG_US = 5_000
const LANES = 64
/** So many calls of one tenant travel together. */
const TOGETHER = 16
/** Rounds of single calls between two of calls that travel together. */
const TOGETHER_EVERY = 20
const BODY_BYTES = 1024
const BODIES_OF_SESSION = 20
/** The share of sessions whose tenant purges everything; the other tenant goes on. */
const PURGED_SHARE = 0.2
const PAGE = 2_000
const ROUNDS = 1_000
/** Several times what a list of changes keeps. */
const LONG_SESSION = 2_000

interface Phase {
  readonly name: string
  /** Times between answers, in microseconds of processor time, the longest last. */
  readonly times: readonly number[]
  /** Calls that are long by the server's own clock. */
  readonly slow: number
}

/**
 * The processor time of the server for each call while a tenant has many bodies, and while another
 * one with a fifth of them is purged; then the largest value. Calls are made one after the other,
 * and now and then as many as travel together; those of the purge come in between.
 */
export async function limits(bodies: number): Promise<string> {
  const redis = await startRedis('--slowlog-log-slower-than', `${LONG_US}`)
  const meter = meterThread(redis)
  const store = await openShared(redis, 'primary', { onCall: meter.answered })
  const phases: Phase[] = []
  const phase = async (name: string, work: () => Promise<unknown>) => {
    await redis.ask('SLOWLOG', 'RESET')
    meter.take()
    await work()
    phases.push({ name, times: meter.take(), slow: Number(await redis.ask('SLOWLOG', 'LEN')) })
  }
  try {
    await fill(store, 'purged', Math.round(bodies * PURGED_SHARE))
    await fill(store, 'stays', bodies)
    await phase(`calls on ${bodies} bodies`, () => calls(store))
    await phase(`the same during a purge of ${Math.round(bodies * PURGED_SHARE)}`, async () => {
      const [purged] = await Promise.all([store.purgeTenant('purged'), calls(store)])
      if (!purged.ok) throw new Error(purged.detail)
    })
    await phase(`a session of ${LONG_SESSION} changes`, () => longSession(store, LONG_SESSION))
    const { largest, keys } = await largestValue(redis)
    const size = `Largest string of ${keys} keys: ${largest} bytes (at most 1,048,576).`
    return `${tableOf(phases)}\n\n${size}`
  } finally {
    await store.close()
    await redis.stop()
  }
}

function tableOf(phases: readonly Phase[]): string {
  const header = [
    '',
    'answers',
    'p50 µs of processor time',
    'p99',
    'longest',
    'above 5 ms',
    "above 5 ms by the server's clock",
  ]
  const rows = phases.map(({ name, times, slow }) => [
    name,
    times.length,
    percentile(times, 0.5),
    percentile(times, 0.99),
    times.at(-1) ?? 0,
    times.filter(us => us > LONG_US).length,
    slow,
  ])
  return markdownTable(header, rows)
}

async function inLanes(count: number, call: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await call(next++)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

function fill(store: Store, tenant: string, bodies: number): Promise<void> {
  return inLanes(bodies, i => put(store, tenant, `${i}`, Math.floor(i / BODIES_OF_SESSION)))
}

async function put(store: Store, tenant: string, seed: string, session: number): Promise<string> {
  const body = prose(BODY_BYTES, `${tenant} ${seed}`)
  const pinUntil = Date.now() + 36_000_000
  const names = { tenant, session: `session ${session}` }
  const [kept] = await store.put([{ ...names, body, mediaType: 'text/plain', pinUntil }])
  if (kept?.ok !== true) throw new Error(JSON.stringify(kept))
  return kept.hash
}

/** Puts, reads, records, turns and purges of sessions, all mixed. */
async function calls(store: Store): Promise<void> {
  for (let i = 0; i < ROUNDS; i++) {
    const ref = await put(store, 'stays', `new ${i}`, i % 50)
    await store.get({ tenant: 'stays', ref })
    await store.touch([{ tenant: 'stays', ref, ttlMs: 1e7 }])
    const key = { tenant: 'stays', namespace: 'rewrites', key: `${i % 100}` }
    await store.writeRecord({ ...key, value: Buffer.alloc(200, i) })
    await turn(store, `turns ${i % 20}`, i)
    if (i % 100 === 0) await store.purgeSession('stays', `session ${i}`)
    if (i % TOGETHER_EVERY !== 0) continue
    const seeds = Array.from({ length: TOGETHER }, (_, at) => `together ${i} ${at}`)
    await Promise.all(seeds.map((seed, at) => put(store, 'stays', seed, at)))
  }
}

async function turn(store: Store, session: string, i: number): Promise<void> {
  const named = { tenant: 'stays', session, ttlMs: 1e7 }
  const call = i.toString(16).padStart(64, '0')
  await store.journal?.open({ ...named, calls: [call], has: null })
  await store.journal?.append({ ...named, bytes: Buffer.from(`["change ${i}"]`), texts: [] })
}

async function longSession(store: Store, turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await turn(store, 'long', i)
}

async function largestValue(redis: RedisProcess) {
  let largest = 0
  let keys = 0
  for (let cursor = '0'; ; ) {
    const answer = await redis.ask('SCAN', cursor, 'COUNT', `${PAGE}`, 'TYPE', 'string')
    const [next, page] = answer as [string, string[]]
    const sizes = await Promise.all(page.map(key => redis.ask('STRLEN', key)))
    keys += page.length
    largest = Math.max(largest, ...sizes.map(Number))
    if (next === '0') return { largest, keys }
    cursor = next
  }
}
