import { hash } from 'node:crypto'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/client.ts'
import type { Store } from '../../src/store/store.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { percentile } from '../support/statistics.ts'
import { noise } from './bodies.ts'
import { merge, type Timed, timed } from './timed.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const SMALL = 10_000
const ROUNDS = 5
const CALLS = 2000
const LANES = 8

/** The same puts and gets in a store with few entries and in one with many, in turn. */
export async function scale(folder: string, many: number): Promise<string> {
  const stores = await Promise.all(
    [SMALL, many].map(async entries => {
      const store = await openSqliteStore({
        folder: join(folder, `scale-${entries}`),
        maxBytes: 8 * 2 ** 30,
        onEvent: event => process.stderr.write(`${JSON.stringify(event)}\n`),
      })
      return { entries, store, puts: [] as Timed[], gets: [] as Timed[] }
    }),
  )
  for (const { store, entries } of stores) await fill(store, entries)
  for (let round = 0; round < ROUNDS; round++) {
    for (const { store, entries, puts, gets } of stores) {
      const bodies = Array.from({ length: CALLS }, (_, i) =>
        noise(4096, `${entries} ${round} ${i}`),
      )
      puts.push(await timed(CALLS, LANES, i => put(store, bodies[i]!)))
      // Any of those that were there before, so that nothing is read that was only just written.
      const refs = Array.from({ length: CALLS }, (_, i) =>
        hash('sha256', entry((i * 7919 * (round + 1)) % entries)),
      )
      gets.push(
        await timed(CALLS, LANES, async i => {
          const result = await store.get({ tenant: 't', ref: refs[i]!.slice(0, 24) })
          if (!result.ok) throw new Error(result.detail)
        }),
      )
    }
  }
  const rows = stores.map(({ entries, puts, gets }) => {
    const figures = (runs: readonly Timed[]) =>
      [0.5, 0.99, 0.999].map(q => percentile(merge(runs).ms, q))
    return [entries, ...figures(puts), ...figures(gets)]
  })
  for (const { store } of stores) await store.close()
  const header = ['entries', 'put p50 ms', 'p99', 'p99.9', 'get p50 ms', 'p99', 'p99.9']
  return markdownTable(header, rows)
}

function entry(i: number): Uint8Array {
  const body = Buffer.alloc(256, 'entry ')
  body.writeUInt32LE(i, 0)
  return body
}

async function put(store: Store, body: Uint8Array): Promise<void> {
  const item = { tenant: 't', body, mediaType: 'text/plain', ttlMs: DAY_MS }
  const [result] = await store.put([item])
  if (result?.ok !== true) throw new Error(JSON.stringify(result))
}

async function fill(store: Store, entries: number): Promise<void> {
  await timed(entries, 256, i => put(store, entry(i)))
}
