import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { endWithThis } from './end-with-this.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** The settings of processes that are given no others. */
export const PROCESS_SETTINGS = fileURLToPath(new URL('service-process.toml', import.meta.url))

/** A line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>

/** A service in a process of its own. */
export interface ServiceProcess {
  readonly child: ChildProcess
  readonly url: string
  /** All that it wrote to stderr until now. */
  stderr(): string
  /** The complete lines of it. */
  log(): LogLine[]
  /** Its exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>
}

const children = new Set<ChildProcess>()

export interface ProcessOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Options of node, in front of the module. */
  readonly execArgv?: readonly string[]
  /** Most files and connections that it may have open. */
  readonly openFiles?: number
  /** Where its stderr goes; by default into `stderr()`. */
  readonly stderr?: number | 'pipe'
  /** Another version's `main.ts`. */
  readonly main?: string
}

/** Starts `main.ts` on a free port and waits until it listens. */
export async function startProcess(options: ProcessOptions = {}): Promise<ServiceProcess> {
  const { env = {}, execArgv = [], stderr = 'pipe', main = MAIN } = options
  const stdio: StdioOptions = ['ignore', 'pipe', stderr]
  const folder = mkdtempSync(join(tmpdir(), 'haversack-process-'))
  const args = [...execArgv, main]
  const limited = `ulimit -n ${options.openFiles}; exec "$0" "$@"`
  const [program, given] =
    options.openFiles === undefined
      ? [process.execPath, args]
      : ['/bin/sh', ['-c', limited, process.execPath, ...args]]
  const child = spawn(program, given, {
    stdio,
    env: {
      ...process.env,
      HAVERSACK_CONFIG: PROCESS_SETTINGS,
      HAVERSACK_PORT: '0',
      HAVERSACK_WORKERS: '1',
      HAVERSACK_DATA_DIR: folder,
      ...env,
    },
  })
  endWithThis(child)
  children.add(child)
  let written = ''
  child.stderr?.setEncoding('utf8').on('data', chunk => {
    written += chunk
  })
  const exited = once(child, 'close').then(([code, signal]) => {
    children.delete(child)
    rmSync(folder, { recursive: true, force: true })
    return (code ?? signal) as number | string
  })
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })
  const first = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    exited.then(code => `ended with ${code}: ${written}`),
  ])
  const url = /^haversack listens on (http:\S+)$/.exec(first)?.[1]
  if (url === undefined) throw new Error(first)
  return { child, url, exited, stderr: () => written, log: () => parseLog(written) }
}

/** Ends whatever a test left behind. */
export function killProcesses(): void {
  for (const child of children) child.kill('SIGKILL')
}

function parseLog(text: string): LogLine[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as LogLine)
}
