import { pino } from 'pino'
import type { LogLevel } from '../core/base/log-levels.ts'

export type Logger = Pick<
  ReturnType<typeof pino>,
  'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'level'
>

/**
 * Lines are written together once there is this much of them, in bytes, or after the flush time.
 */
const TOGETHER_BYTES = 4096
const FLUSH_MS = 200

/** Lines beyond this many bytes are dropped while their reader does not keep up. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024

/**
 * Writes JSON lines to stderr, because stdout belongs to results. Lines wait for a flush; waiting
 * lines are written when the process exits.
 * @param destination gets each line at once instead, if stderr is another program's
 */
export function createLogger(level: LogLevel, destination?: LogDestination): Logger {
  return pino({ name: 'haversack', level }, destination ?? stderrDestination())
}

interface LogDestination {
  write(line: string): void
}

let stderr: FileDestination | undefined

/** One for all loggers of a process: each wakes five times a second, and writes even if silent. */
function stderrDestination(): FileDestination {
  stderr ??= openStderr()
  return stderr
}

function openStderr(): FileDestination {
  const destination = pino.destination({
    fd: 2,
    sync: false,
    minLength: TOGETHER_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_MS,
  })
  // A full disk or a reader that is gone must not end the service. pino's own listener would throw
  // the error.
  destination.on('error', () => failing.add(destination))
  destination.on('write', () => failing.delete(destination))
  return destination
}

type FileDestination = ReturnType<typeof pino.destination>

/**
 * Logs whose last write failed. Lines that wait for them are dropped at the end, so that the
 * process does not try for ever.
 */
const failing = new Set<FileDestination>()
process.prependListener('exit', () => {
  for (const destination of failing) destination.destroy()
})
