import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { endWithThis } from '../../test/support/end-with-this.ts'
import type { LoadPlan } from './closed-load.ts'
import type { LoadResult } from './closed-loop.ts'

/** A server in a process of its own. */
export interface Server {
  readonly url: string
  readonly pid: number
  /** Sends SIGTERM, and SIGKILL if that takes too long. */
  stop(): Promise<void>
}

const STOP_MS = 20_000
const script = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Starts `name` (relative to bench/) on a free port, and waits for the line with its address. */
export async function startServer(name: string, env: NodeJS.ProcessEnv = {}): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-data-'))
  const quiet = { HAVERSACK_PORT: '0', HAVERSACK_LOG_LEVEL: 'error', HAVERSACK_DATA_DIR: folder }
  const child = spawn(process.execPath, [script(name)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...quiet, ...env },
  })
  const exited = once(endWithThis(child), 'exit')
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    exited.then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ])
  return {
    url: line.slice(line.lastIndexOf(' ') + 1),
    pid: child.pid!,
    async stop() {
      child.kill('SIGTERM')
      const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await exited
      clearTimeout(limit)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs one closed-loop load in a process of its own. */
export function load(plan: LoadPlan): Promise<LoadResult> {
  return runPlan('support/closed-load.ts', plan)
}

/** Runs the script `name` (relative to bench/) with a plan. @returns the JSON that it prints */
export async function runPlan<Result>(name: string, plan: object): Promise<Result> {
  const child = spawn(process.execPath, [script(name), JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(endWithThis(child), 'exit')
  const printed = await text(child.stdout)
  const [code] = await exited
  if (code !== 0) throw new Error(`the load ended with ${code}`)
  return JSON.parse(printed)
}
