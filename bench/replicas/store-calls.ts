import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/client.ts'
import type { Store } from '../../src/store/store.ts'
import { type RedisProcess, startRedis } from '../../test/support/redis-server.ts'
import { prose } from '../store/bodies.ts'
import { timed } from '../store/timed.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { cpuUsOf } from '../support/process-time.ts'
import { median, percentile } from '../support/statistics.ts'
import { openShared } from './open-shared.ts'

const BODY_BYTES = 4096
const GIB = 2 ** 30
/**
 * The shared store against the embedded one: puts with a session and gets, one at a time and 32 at
 * a time, in turn. Processor time is of this process and of the Redis servers. Then what Redis
 * takes for a body and for a record.
 */
export async function storeCalls(rounds: number, bodies: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-replicas-'))
  const primary = await startRedis('--repl-diskless-sync-delay', '0')
  const replicated = await startRedis('--repl-diskless-sync-delay', '0')
  const replica = await startRedis('--replicaof', `127.0.0.1 ${replicated.port}`)
  const servers = [primary, replicated, replica]
  const stores: Stores = [
    ['SQLite', await openSqliteStore({ folder, maxBytes: 8 * GIB, onEvent: () => {} })],
    ['Redis, `primary`', await openShared(primary, 'primary')],
    ['Redis, `replica`', await openShared(replicated, 'replica')],
  ]
  try {
    const calls = await speed(stores, servers, { rounds, bodies })
    return `${calls}\n\n${await memory(primary)}`
  } finally {
    for (const [, store] of stores) await store.close()
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Stores = readonly (readonly [label: string, store: Store])[]

async function speed(
  stores: Stores,
  servers: readonly RedisProcess[],
  { rounds, bodies }: { readonly rounds: number; readonly bodies: number },
): Promise<string> {
  const rows: (string | number)[][] = []
  for (const lanes of [1, 32]) {
    const results = stores.map(() => ({ put: [] as number[][], get: [] as number[][] }))
    for (let round = 0; round < rounds; round++) {
      const texts = Array.from({ length: bodies }, (_, i) =>
        prose(BODY_BYTES, `${lanes} ${round} ${i}`),
      )
      for (const [at, [, store]] of stores.entries()) {
        const refs: string[] = []
        const result = results[at]!
        result.put.push(
          await measured(servers, bodies, lanes, async i => {
            refs[i] = await put(store, texts[i]!, `session ${Math.floor(i / 5)}`)
          }),
        )
        result.get.push(
          await measured(servers, bodies, lanes, async i => {
            const got = await store.get({ tenant: 't', ref: refs[(i * 7919) % bodies]! })
            if (!got.ok) throw new Error(got.detail)
          }),
        )
      }
    }
    for (const [at, { put: puts, get: gets }] of results.entries()) {
      const middle = (runs: number[][]) => [0, 1, 2, 3].map(i => median(runs.map(run => run[i]!)))
      rows.push([`${lanes} at a time`, stores[at]![0], ...middle(puts), ...middle(gets)])
    }
  }
  const four = ['/s', 'p50 ms', 'µs here', 'µs in Redis']
  const header = [
    '',
    'store',
    ...four.map(each => `put ${each}`),
    ...four.map(each => `get ${each}`),
  ]
  return markdownTable(header, rows)
}

/** Calls a second, their median time, and processor time of a call here and in the servers. */
async function measured(
  servers: readonly RedisProcess[],
  bodies: number,
  lanes: number,
  call: (index: number) => Promise<unknown>,
) {
  const before = { own: process.cpuUsage(), servers: cpuUsOf(servers) }
  const { ms, total_ms } = await timed(bodies, lanes, call)
  const { user, system } = process.cpuUsage(before.own)
  return [
    bodies / (total_ms / 1000),
    percentile(ms, 0.5),
    (user + system) / bodies,
    (cpuUsOf(servers) - before.servers) / bodies,
  ]
}

async function memory(primary: RedisProcess): Promise<string> {
  const store = await openShared(primary, 'primary')
  await primary.ask('FLUSHALL')
  const empty = await dataset(primary)
  const count = 10_000
  for (let from = 0; from < count; from += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        put(store, prose(BODY_BYTES, `memory ${from + i}`), `session ${(from + i) % 2_000}`),
      ),
    )
  }
  const withBodies = await dataset(primary)
  const accounted = await storedBytes(store)
  for (let i = 0; i < count; i++) {
    const record = { tenant: 't', namespace: 'rewrites', key: `key ${i}`, ttlMs: 1e9 }
    await store.writeRecord({ ...record, value: Buffer.alloc(120, i) })
  }
  const withAll = await dataset(primary)
  const ofRecords = (await storedBytes(store)) - accounted
  await store.close()
  const taken = withBodies - empty
  return markdownTable(
    ['10,000 of', 'bytes each in Redis', 'of the raw size', 'accounted ÷ taken'],
    [
      ['4 KiB bodies with session', taken / count, taken / count / BODY_BYTES, accounted / taken],
      [
        'records of 120 bytes',
        (withAll - withBodies) / count,
        (withAll - withBodies) / count / 120,
        ofRecords / (withAll - withBodies),
      ],
    ],
  )
}

async function put(store: Store, body: Uint8Array, session: string): Promise<string> {
  const pinUntil = Date.now() + 3_600_000
  const item = { tenant: 't', body, mediaType: 'text/plain', session, pinUntil }
  const [kept] = await store.put([item])
  if (kept?.ok !== true) throw new Error(JSON.stringify(kept))
  return kept.hash
}

async function storedBytes(store: Store): Promise<number> {
  const stats = await store.stats('t')
  return stats.ok ? stats.stored_bytes : 0
}

async function dataset(primary: RedisProcess): Promise<number> {
  const info = String(await primary.ask('INFO', 'memory'))
  return Number(/used_memory_dataset:(\d+)/.exec(info)?.[1])
}
