import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync } from 'node:fs'
import spawn from 'cross-spawn'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Guard } from '../../proxy/guard.ts'
import type { Clock } from './clock.ts'
import type { ServerTarget } from './options.ts'

const IS_WINDOWS = process.platform === 'win32'

/** What a child gets of our environment, in capitals. */
const INHERITED = new Set(
  IS_WINDOWS
    ? [
        ...['PATH', 'PATHEXT', 'SYSTEMROOT', 'SYSTEMDRIVE', 'COMSPEC', 'TEMP', 'TMP', 'USERNAME'],
        ...['USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA'],
      ]
    : ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR'],
)

/** What is kept of standard error. */
const ERROR_BYTES = 4096

/** Between the end of standard input, which asks a server to end, and SIGTERM. */
const INPUT_END_MS = 200
/** How often a process group is looked at until it is gone. */
const LOOK_MS = 50

type StdioTarget = Extract<ServerTarget, { kind: 'stdio' }>

/** A child process in a process group of its own. */
export class ServerProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly #clock: Clock
  readonly #endMs: number
  #errors: JsonBytes = Buffer.alloc(0)
  #ended: Promise<void> | undefined
  #hasExited = false
  #onExit: (() => void)[] = []

  /** Throws what `spawn` throws. A command that does not exist is an `error` of the child. */
  constructor(target: StdioTarget, clock: Clock, endMs: number, guard: Guard) {
    this.#clock = clock
    this.#endMs = endMs
    this.child = spawn(target.command, target.args, {
      env: childEnvironment(target),
      ...(target.cwd === null ? {} : { cwd: target.cwd }),
      detached: true,
      stdio: 'pipe',
      windowsHide: true,
    }) as ChildProcessWithoutNullStreams
    const onExit = () => {
      this.#hasExited = true
      for (const handler of this.#onExit.splice(0)) handler()
    }
    // Before all else: without descriptors for pipes the lines below throw, and the error comes.
    guard.on(this.child, 'error', () => this.child.pid === undefined && onExit())
    guard.once(this.child, 'exit', onExit)
    guard.on(this.child.stderr, 'data', (chunk: JsonBytes) => this.#keepErrors(chunk))
    guard.on(this.child.stderr, 'error', () => {})
  }

  lastErrors(): string {
    return this.#errors.toString()
  }

  /** Ends the child and what it started. Resolves once they are gone, or were killed. */
  end(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    const { child } = this
    const { pid } = child
    child.stdin.end()
    if (pid !== undefined) {
      if (!this.#hasExited) await this.#exit(INPUT_END_MS)
      signalGroup(pid, 'SIGTERM')
      const until = this.#clock.now() + this.#endMs
      if (!this.#hasExited) await this.#exit(this.#endMs)
      while (isGroupAlive(pid) && this.#clock.now() < until) await this.#wait(LOOK_MS)
      signalGroup(pid, 'SIGKILL')
    }
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
  }

  /** Resolves once the child exited, or after that time. */
  #exit(ms: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.#clock.after(ms, resolve)
      this.#onExit.push(() => {
        cancel()
        resolve()
      })
    })
  }

  #wait(ms: number): Promise<void> {
    return new Promise(resolve => this.#clock.after(ms, resolve))
  }

  #keepErrors(chunk: JsonBytes): void {
    const all = Buffer.concat([this.#errors, chunk.subarray(-ERROR_BYTES)])
    this.#errors = Buffer.from(all.subarray(-ERROR_BYTES))
  }
}

function childEnvironment({ env, processEnvironment }: StdioTarget): Record<string, string> {
  // Windows does not tell `Path` from `PATH`.
  const inherited = Object.entries(processEnvironment).filter(
    (each): each is [string, string] =>
      INHERITED.has(IS_WINDOWS ? each[0].toUpperCase() : each[0]) && each[1] !== undefined,
  )
  return { ...Object.fromEntries(inherited), ...env }
}

/**
 * A group that is gone cannot be signalled, and needs no signal. Windows has no groups: there only
 * the process itself is ended.
 */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(IS_WINDOWS ? pid : -pid, signal)
  } catch {
    return false
  }
}

function isGroupAlive(pid: number): boolean {
  return signalGroup(pid, 0)
}

/** Why there is no process; a clause. The same code says that the folder is missing. */
export function whyNotStarted({ command, cwd }: StdioTarget, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' && cwd !== null && !existsSync(cwd)) {
    return `its folder ${cwd} is not there`
  }
  if (error.code === 'ENOENT') return `its program ${command} is not found`
  if (error.code === 'EACCES') return `its program ${command} may not be run`
  return `its program could not be started: ${error.code}`
}
