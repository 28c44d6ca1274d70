import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

/** What Node keeps of compiled modules, wherever a test sends temporary files. */
const COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')

/** `haversack run` in a process of its own. */
export interface RunProcess {
  readonly process: ChildProcess
  /** All that came so far, of the command and of `run`. */
  stdout(): string
  stderr(): string
  /** Resolves once the line has come on stdout; throws where the process ends without it. */
  line(start: string): Promise<string>
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** What was started and has not ended. */
const running = new Set<ChildProcess>()

/**
 * Starts it without a terminal, in a process group of its own, which `killAll` ends with all that
 * is in it.
 * @param args options, `--` and the command
 */
export function startRun(args: readonly string[], env: NodeJS.ProcessEnv): RunProcess {
  const child = spawn(process.execPath, [CLI, 'run', '--no-texts', ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      HAVERSACK_WORKERS: '1',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...env,
    },
  })
  running.add(child)
  const out = collect(child.stdout)
  const err = collect(child.stderr)
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  return {
    process: child,
    stdout: out.text,
    stderr: err.text,
    line: start => out.line(start, err.text),
    ended,
  }
}

/** Ends whatever a test left behind. */
export function killAll(): void {
  for (const { pid } of running) {
    try {
      process.kill(-(pid as number), 'SIGKILL')
    } catch {
      // Nothing of the group is left.
    }
  }
  running.clear()
}

function collect(stream: NodeJS.ReadableStream) {
  let text = ''
  let isOver = false
  const waiting: (() => void)[] = []
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    text += chunk
    wake()
  })
  stream.on('close', () => {
    isOver = true
    wake()
  })
  return {
    text: () => text,
    async line(start: string, errors: () => string): Promise<string> {
      for (;;) {
        const complete = text.split('\n').slice(0, -1)
        const found = complete.find(line => line.startsWith(start))
        if (found !== undefined) return found
        if (isOver) throw new Error(`ended without ${start}: ${text}${errors()}`)
        await new Promise<void>(resolve => waiting.push(resolve))
      }
    },
  }
}
