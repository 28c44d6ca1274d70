import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { endWithThis } from '../../test/support/end-with-this.ts'
import type { LoadPlan } from './closed-load.ts'
import type { LoadResult } from './load-client.ts'

/** A server in a process of its own. */
export interface Server {
  readonly port: number
  readonly pid: number
  /** Milliseconds from the start of the process until it said where it listens. */
  readonly startMs: number
  /** Sends SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>
}

const BENCH = new URL('../', import.meta.url)

function script(name: string): string {
  return fileURLToPath(new URL(name, BENCH))
}

/**
 * Starts `name` (relative to bench/) and waits for the line with its address.
 * @param log where its standard error goes: the bench's own, or a file descriptor
 */
export function startServer(
  name: string,
  env: NodeJS.ProcessEnv = {},
  log: 'inherit' | number = 'inherit',
): Promise<Server> {
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-data-'))
  const child = spawn(process.execPath, [script(name)], {
    stdio: ['ignore', 'pipe', log] as ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HAVERSACK_DATA_DIR: folder, ...env },
  })
  endWithThis(child)
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`${name} ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', line => {
      const port = /:(\d+)$/.exec(line)?.[1]
      if (port === undefined) return
      const startMs = performance.now() - started
      resolve({ port: Number(port), pid: child.pid ?? 0, startMs, stop: () => stop(child, folder) })
    })
  })
}

function stop(child: ChildProcess, folder: string): Promise<number | null> {
  return new Promise(resolve => {
    child.removeAllListeners('exit')
    child.once('exit', code => {
      rmSync(folder, { recursive: true, force: true })
      resolve(code)
    })
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 20_000).unref()
  })
}

/** Runs one closed-loop load in a process of its own. */
export function load(plan: LoadPlan): Promise<LoadResult> {
  return runPlan('support/closed-load.ts', plan)
}

/**
 * Runs the script `name` (relative to bench/) with a plan, and gives the JSON that it prints.
 */
export function runPlan<Result>(name: string, plan: object): Promise<Result> {
  const child = spawn(process.execPath, [script(name), JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  endWithThis(child)
  return new Promise((resolve, reject) => {
    let out = ''
    child.stdout.on('data', chunk => {
      out += chunk
    })
    child.once('exit', code => {
      if (code === 0) resolve(JSON.parse(out))
      else reject(new Error(`the load ended with ${code}`))
    })
  })
}
