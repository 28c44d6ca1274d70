import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const COMMAND = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

/** The service in a process of its own, as a user starts it. */
export interface ServiceProcess {
  readonly url: string
  /** What it has logged so far: JSON lines. */
  log(): string
  /** Resolves to the exit code. */
  stop(): Promise<number | null>
}

/**
 * Starts `haversack serve` on a free port with its defaults and a temporary data folder. Neither
 * outlives this process.
 */
export async function startServiceProcess(): Promise<ServiceProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-demo-'))
  const child = spawn(process.execPath, [COMMAND, 'serve', '--port', '0'], {
    env: { ...plainEnv(), HAVERSACK_DATA_DIR: folder, HAVERSACK_LOG_LEVEL: 'debug' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  process.once('exit', () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  let log = ''
  child.stderr.on('data', chunk => {
    log += chunk
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(([code]) => Promise.reject(new Error(`the service ended with ${code}: ${log}`))),
  ])
  return {
    url: line.slice(line.lastIndexOf(' ') + 1),
    log: () => log,
    async stop() {
      child.kill('SIGTERM')
      const [code] = await exited
      return code
    },
  }
}

/** This environment without settings of the service. */
function plainEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('HAVERSACK_'))
  return Object.fromEntries(kept)
}
