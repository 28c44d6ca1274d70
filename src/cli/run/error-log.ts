import { openSync, writeSync } from 'node:fs'
import type { LogLevel } from '../../core/base/log-levels.ts'
import { createLogger, type Logger } from '../../observability/logger.ts'

/** A log that leaves the terminal to the command. */
export interface QuietLog {
  logger(level: LogLevel): Logger
  /** The number of errors and the first one, if no file keeps them. */
  errors(): { readonly count: number; readonly first: string } | null
}

/**
 * Appends all lines to a file that only this user can read. @throws Error if it cannot be
 * written
 */
export function logToFile(path: string): QuietLog {
  const file = openSync(path, 'a', 0o600)
  const write = (line: string) => {
    try {
      writeSync(file, line)
    } catch {
      // A full disk must not end the command's work.
    }
  }
  return { logger: level => createLogger(level, { write }), errors: () => null }
}

/** Keeps no lines, and counts errors, whatever the configured level. */
export function logErrorsOnly(): QuietLog {
  let count = 0
  let first = ''
  const write = (line: string) => {
    if (count++ === 0) first = messageOf(line)
  }
  return {
    logger: () => createLogger('error', { write }),
    errors: () => (count === 0 ? null : { count, first }),
  }
}

function messageOf(line: string): string {
  const { msg, err, bug, detail } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const reason = (err as { message?: unknown } | undefined)?.message ?? bug ?? detail
  // The first line of a stack.
  return reason === undefined ? String(msg) : `${msg}: ${String(reason).split('\n', 1)}`
}
