import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { median } from './support/statistics.ts'

/**
 * npm run bench -- start [--json --rounds N]
 *
 * Milliseconds from the start of the process to the first 200 of /readyz: with empty caches, and
 * with caches that an earlier start filled. Compared in turn. The files themselves are in the
 * system's page cache in both cases.
 */
const options = readOptions({ json: false, rounds: 9 })
const { rounds } = options
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'haversack-start-'))

type CacheEnv = (caches: string) => NodeJS.ProcessEnv

/**
 * The compile cache where the environment says, for the main thread and the workers from the start.
 */
const named: CacheEnv = caches => ({ NODE_COMPILE_CACHE: join(caches, 'compiled') })
/** The compile cache that the service opens by itself, under the folder for temporary files. */
const byDefault: CacheEnv = caches => ({ NODE_COMPILE_CACHE: undefined, TMPDIR: caches })

interface Case {
  readonly label: string
  readonly cache: CacheEnv
  /** Most milliseconds that the median may be. */
  readonly target: number
  /** Folder of the caches for a round. */
  caches(): string
}

let folders = 0

function emptyFolder(): string {
  const path = join(folder, String(folders++))
  mkdirSync(path)
  return path
}

const filled = emptyFolder()
const filledByDefault = emptyFolder()
const CASES: readonly Case[] = [
  { label: 'first', cache: named, target: 1300, caches: emptyFolder },
  { label: 'warm', cache: named, target: 600, caches: () => filled },
  { label: 'first, own cache', cache: byDefault, target: 1300, caches: emptyFolder },
  { label: 'warm, own cache', cache: byDefault, target: 600, caches: () => filledByDefault },
]

/** Starts the service with these caches, waits until it is ready, and ends it. */
async function startOnce(caches: string, cache: CacheEnv): Promise<number> {
  const env = { ...process.env, HAVERSACK_PORT: '0', HAVERSACK_CACHE_DIR: join(caches, 'cache') }
  const started = performance.now()
  const child = spawn(process.execPath, [MAIN], {
    env: { ...env, HAVERSACK_DATA_DIR: join(caches, 'data'), ...cache(caches) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    const response = await fetch(`${await addressOf(child)}/readyz`)
    if (response.status !== 200) throw new Error(`/readyz answers ${response.status}`)
    return performance.now() - started
  } finally {
    // By its signal, so that it writes its compile cache.
    child.kill('SIGTERM')
    await exited
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the service has no standard output')
  const lines = createInterface({ input: child.stdout })
  return new Promise((resolve, reject) => {
    lines.once('line', line => resolve(line.slice(line.lastIndexOf(' ') + 1)))
    child.once('exit', code => reject(new Error(`the service ended with ${code}`)))
  })
}

async function measure() {
  for (const { cache, caches } of CASES) await startOnce(caches(), cache)
  const times = CASES.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, { cache, caches }] of CASES.entries()) {
      times[index]?.push(await startOnce(caches(), cache))
    }
  }
  return CASES.map(({ label, target }, index) => {
    const ms = times[index] ?? []
    return {
      label,
      median_ms: Math.round(median(ms)),
      min_ms: Math.round(Math.min(...ms)),
      max_ms: Math.round(Math.max(...ms)),
      target_ms: target,
    }
  })
}

try {
  const result = { machine: machine(), rounds, starts: await measure() }
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`)
  else {
    const rows = result.starts.map(row => [
      row.label,
      row.median_ms,
      row.min_ms,
      row.max_ms,
      row.target_ms,
    ])
    process.stdout.write(`${JSON.stringify(result.machine)}, ${rounds} rounds\n\n`)
    process.stdout.write(
      `${markdownTable(['start to ready', 'median ms', 'min', 'max', 'target ≤'], rows)}\n`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
