import type { Store } from '../../src/store/store.ts'
import { type RedisProcess, startRedis } from '../../test/support/redis-server.ts'
import { prose } from '../store/bodies.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { openShared } from './open-shared.ts'

/** A function that takes longer is a finding. */
const LONG_US = 5_000
const LANES = 64
const BODY_BYTES = 1024
const BODIES_OF_SESSION = 20
/** Of these sessions one tenant purges everything, and the other one goes on. */
const PURGED_SHARE = 0.2
const PAGE = 2_000

interface Phase {
  readonly name: string
  readonly calls: number
  readonly p99_us: number
  readonly long: number
  readonly longest_us: number
}

/**
 * What one call of a function takes at the server while a tenant has many bodies, and while another
 * one with a fifth of them is purged; then the largest value. Times are those of `SLOWLOG`, so a
 * busy machine adds the moments in which Redis does not run.
 */
export async function limits(bodies: number): Promise<string> {
  const redis = await startRedis('--slowlog-log-slower-than', '0', '--slowlog-max-len', '100000')
  const store = await openShared(redis, 'primary')
  const phases: Phase[] = []
  const phase = async (name: string, work: () => Promise<unknown>) => {
    await redis.ask('SLOWLOG', 'RESET')
    await work()
    phases.push({ name, ...(await callsOf(redis)) })
  }
  try {
    await fill(store, 'purged', Math.round(bodies * PURGED_SHARE))
    await fill(store, 'stays', bodies)
    await phase(`calls on ${bodies} bodies`, () => calls(store, PAGE))
    await phase(`the same during a purge of ${Math.round(bodies * PURGED_SHARE)}`, async () => {
      const [purged] = await Promise.all([store.purgeTenant('purged'), calls(store, PAGE)])
      if (!purged.ok) throw new Error(purged.detail)
    })
    await phase('a session of 10,000 changes', () => longSession(store, 10_000))
    const { largest, keys } = await largestValue(redis)
    const header = ['', 'calls', 'p99 µs', 'above 5 ms', 'longest µs']
    const rows = phases.map(({ name, calls, p99_us, long, longest_us }) => [
      ...[name, calls, p99_us, long, longest_us],
    ])
    const size = `Largest string of ${keys} keys: ${largest} bytes (at most 1,048,576).`
    return `${markdownTable(header, rows)}\n\n${size}`
  } finally {
    await store.close()
    await redis.stop()
  }
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
async function calls(store: Store, count: number): Promise<void> {
  await inLanes(count, async i => {
    const ref = await put(store, 'stays', `new ${i}`, i % 50)
    await store.get({ tenant: 'stays', ref })
    await store.touch([{ tenant: 'stays', ref, ttlMs: 1e7 }])
    const key = { tenant: 'stays', namespace: 'rewrites', key: `${i % 100}` }
    await store.writeRecord({ ...key, value: Buffer.alloc(200, i) })
    await turn(store, `turns ${i % 20}`, i)
    if (i % 100 === 0) await store.purgeSession('stays', `session ${i}`)
  })
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

/** Calls of functions since the last reset, as far as the log has them. */
async function callsOf(redis: RedisProcess): Promise<Omit<Phase, 'name'>> {
  const log = (await redis.ask('SLOWLOG', 'GET', '-1')) as [number, number, number, string[]][]
  const times = log
    .filter(([, , , [command = '']]) => command.toLowerCase().startsWith('fcall'))
    .map(([, , us]) => us)
    .sort((a, b) => a - b)
  return {
    calls: times.length,
    p99_us: times[Math.floor(times.length * 0.99)] ?? 0,
    long: times.filter(us => us > LONG_US).length,
    longest_us: times.at(-1) ?? 0,
  }
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
