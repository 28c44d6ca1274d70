import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { open, readFile, rename } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { median } from '../../src/lab/bill/statistics.ts'
import { openSqliteStore } from '../../src/store/sqlite/client.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { percentile } from '../support/statistics.ts'
import { noise, prose, timed } from './timed.ts'

/** Something that keeps bodies by their hash, durably once `put` resolves. */
interface Rival {
  readonly label: string
  put(body: Uint8Array): Promise<string>
  get(ref: string): Promise<Uint8Array>
  close(): Promise<void>
}

async function haversack(folder: string, compress: boolean): Promise<Rival> {
  const store = await openSqliteStore({
    folder,
    maxBytes: 8 * 2 ** 30,
    ...(compress ? {} : { compressFromBytes: null }),
    onEvent: event => process.stderr.write(`${JSON.stringify(event)}\n`),
  })
  return {
    label: compress ? 'Haversack' : 'Haversack, no compression',
    async put(body) {
      const [result] = await store.put([{ tenant: 't', body, mediaType: 'text/plain' }])
      if (result?.ok !== true) throw new Error(JSON.stringify(result))
      return result.hash
    },
    async get(ref) {
      const result = await store.get({ tenant: 't', ref })
      if (!result.ok) throw new Error(result.detail)
      return result.body
    },
    close: () => store.close(),
  }
}

/**
 * One file a body: written beside, flushed, renamed. The folder is not flushed: kinder than it
 * should be.
 */
async function files(folder: string): Promise<Rival> {
  mkdirSync(folder, { recursive: true })
  return {
    label: 'a file a body, fsync',
    async put(body) {
      const ref = hash('sha256', body)
      const path = join(folder, ref)
      const file = await open(`${path}.part`, 'w', 0o600)
      await file.writeFile(body)
      await file.sync()
      await file.close()
      await rename(`${path}.part`, path)
      return ref
    },
    get: ref => readFile(join(folder, ref)),
    close: async () => {},
  }
}

/** What we use of lmdb; it is installed for the bench alone. */
interface Lmdb {
  open(options: { path: string; encoding: 'binary' }): {
    put(key: string, value: Uint8Array): Promise<boolean>
    get(key: string): Uint8Array | undefined
    readonly flushed: Promise<unknown>
    close(): Promise<void>
  }
}

/** Installs lmdb beside the bench's files. @throws Error if the registry cannot be reached */
function installLmdb(folder: string): Lmdb {
  const target = join(folder, 'lmdb')
  mkdirSync(target, { recursive: true })
  const args = ['install', '--prefix', target, '--no-audit', '--no-fund', 'lmdb@3']
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('lmdb could not be installed')
  return createRequire(join(target, 'package.json'))('lmdb') as Lmdb
}

async function lmdb({ open }: Lmdb, folder: string): Promise<Rival> {
  const database = open({ path: folder, encoding: 'binary' })
  return {
    label: 'lmdb',
    async put(body) {
      const ref = hash('sha256', body)
      await database.put(ref, body)
      // `put` resolves before the disk has it.
      await database.flushed
      return ref
    },
    async get(ref) {
      const body = database.get(ref)
      if (body === undefined) throw new Error(`${ref} is missing`)
      return body
    },
    close: () => database.close(),
  }
}

const LANES = [1, 32]
const ROUNDS = 5

/** Puts and gets of new bodies, all rivals in turn in each round; medians over the rounds. */
export async function speed(folder: string): Promise<string> {
  const rivals: Rival[] = [
    await haversack(join(folder, 'speed-zstd'), true),
    await haversack(join(folder, 'speed-plain'), false),
    await files(join(folder, 'speed-files')),
    ...(await rivalLmdb(folder)),
  ]
  const rows: (string | number)[][] = []
  for (const [what, size, count] of [
    ['text', 4096, 800],
    ['text', 65_536, 200],
    ['noise', 65_536, 200],
  ] as const) {
    for (const lanes of LANES) {
      const results = rivals.map(() => ({ puts: [] as number[][], gets: [] as number[][] }))
      for (let round = 0; round < ROUNDS; round++) {
        const seed = `${size} ${lanes} ${round}`
        const bodies = Array.from({ length: count }, (_, i) =>
          what === 'text' ? prose(size, `${seed} ${i}`) : noise(size, `${seed} ${i}`),
        )
        for (const [at, rival] of rivals.entries()) {
          const refs: string[] = []
          const put = await timed(count, lanes, async i => {
            refs[i] = await rival.put(bodies[i]!)
          })
          const get = await timed(count, lanes, i => rival.get(refs[(i * 7919) % count]!))
          const line = ({ ms, total_ms }: typeof put) => [
            count / (total_ms / 1000),
            percentile(ms, 0.5),
            percentile(ms, 0.99),
          ]
          results[at]!.puts.push(line(put))
          results[at]!.gets.push(line(get))
        }
      }
      for (const [at, { puts, gets }] of results.entries()) {
        const middle = (runs: number[][]) => [0, 1, 2].map(i => median(runs.map(run => run[i]!)))
        const label = `${what} ${size / 1024} KiB, ${lanes} at a time`
        rows.push([label, rivals[at]!.label, ...middle(puts), ...middle(gets)])
      }
    }
  }
  for (const rival of rivals) await rival.close()
  const header = ['bodies', 'store', 'puts/s', 'p50 ms', 'p99 ms', 'gets/s', 'p50 ms', 'p99 ms']
  return markdownTable(header, rows)
}

async function rivalLmdb(folder: string): Promise<Rival[]> {
  try {
    return [await lmdb(installLmdb(folder), join(folder, 'speed-lmdb'))]
  } catch (error) {
    process.stderr.write(`without lmdb: ${String(error)}\n`)
    return []
  }
}
