import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { endWithThis } from '../test/support/end-with-this.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { cpuUsOf } from './support/process-time.ts'
import { median } from './support/statistics.ts'

/**
 * npm run bench -- start [--json --rounds N --main FILE]
 *
 * Milliseconds from the start of the process to the first 200 of /readyz, its processor time by
 * then, and its resident memory: with empty caches, and with caches that an earlier start filled.
 * `--main` measures another version, for example `main.js` of a built package, in turn with this
 * one. The files themselves are in the system's page cache in both cases.
 */
const options = readOptions({ json: false, rounds: 9, main: '' })
const { rounds } = options
const MAIN =
  options.main === ''
    ? fileURLToPath(new URL('../src/main.ts', import.meta.url))
    : resolve(options.main)
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

const HEADER = [
  'start to ready',
  'median ms',
  'min',
  'max',
  'target ≤',
  'processor ms',
  'resident MiB',
]

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

/** A service that has just become ready. */
interface Start {
  readonly ms: number
  readonly cpu_ms: number
  readonly resident_mib: number
}

/** Starts the service with these caches, waits until it is ready, and ends it. */
async function startOnce(caches: string, cache: CacheEnv): Promise<Start> {
  const env = { ...process.env, HAVERSACK_PORT: '0', HAVERSACK_CACHE_DIR: join(caches, 'cache') }
  const started = performance.now()
  const child = spawn(process.execPath, [MAIN], {
    env: { ...env, HAVERSACK_DATA_DIR: join(caches, 'data'), ...cache(caches) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(endWithThis(child), 'exit')
  try {
    const response = await fetch(`${await addressOf(child)}/readyz`)
    if (response.status !== 200) throw new Error(`/readyz answers ${response.status}`)
    const ms = performance.now() - started
    const pid = child.pid!
    return { ms, cpu_ms: cpuUsOf([{ pid }]) / 1000, resident_mib: residentMib(pid) }
  } finally {
    // By its signal, so that it writes its compile cache.
    child.kill('SIGTERM')
    await exited
  }
}

function residentMib(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
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
  const starts = CASES.map((): Start[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, { cache, caches }] of CASES.entries()) {
      starts[index]?.push(await startOnce(caches(), cache))
    }
  }
  return CASES.map(({ label, target }, index) => {
    const ms = starts[index]!.map(start => start.ms)
    const medianOf = (key: keyof Start) =>
      Math.round(median(starts[index]!.map(start => start[key])))
    return {
      label,
      median_ms: Math.round(median(ms)),
      min_ms: Math.round(Math.min(...ms)),
      max_ms: Math.round(Math.max(...ms)),
      target_ms: target,
      cpu_ms: medianOf('cpu_ms'),
      resident_mib: medianOf('resident_mib'),
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
      row.cpu_ms,
      row.resident_mib,
    ])
    process.stdout.write(`${JSON.stringify(result.machine)}, ${rounds} rounds\n\n`)
    process.stdout.write(`${markdownTable(HEADER, rows)}\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
