import { pino } from 'pino'

export type Logger = Pick<ReturnType<typeof pino>, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** JSON lines on stderr: stdout belongs to results. */
export function createLogger(level: LogLevel): Logger {
  return pino({ name: 'haversack', level }, pino.destination({ fd: 2, sync: true }))
}
