import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { LoadPlan, LoadResult } from './load.ts'

/** A server in a process of its own. */
export interface Server {
  readonly port: number
  /** Milliseconds from the start of the process until it said where it listens. */
  readonly startMs: number
  stop(): Promise<void>
}

function script(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Starts `name` (beside this file) and waits for the line with its address. */
export function startServer(name: string, env: NodeJS.ProcessEnv = {}): Promise<Server> {
  const started = performance.now()
  const child = spawn(process.execPath, [script(name)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`${name} ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', line => {
      const port = /:(\d+)$/.exec(line)?.[1]
      if (port === undefined) return
      const startMs = performance.now() - started
      resolve({ port: Number(port), startMs, stop: () => stop(child) })
    })
  })
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    child.removeAllListeners('exit')
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 3000).unref()
  })
}

/** Runs one load in a process of its own. */
export function load(plan: LoadPlan): Promise<LoadResult> {
  const child = spawn(process.execPath, [script('load.ts'), JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
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
