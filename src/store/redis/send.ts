import { inTime } from '../../core/base/deadline.ts'
import type { Result } from '../store.ts'
import type { Argument, Connection } from './connection.ts'
import { failureOf, isMissingFunction, TOO_LATE } from './failures.ts'

export interface Reply {
  readonly reply: unknown
}

/** The server has no such function yet. */
export const MISSING = Symbol('the library is not loaded')

/** Sends a command and waits so many milliseconds for the answer. Never rejects. */
export async function sendInTime(
  connection: Connection,
  key: string,
  args: readonly Argument[],
  ms: number,
): Promise<Result<Reply> | typeof MISSING> {
  try {
    const sent = connection.send(key, args).then(reply => ({ ok: true, reply }) as const)
    return (await inTime(sent, ms)) ?? TOO_LATE
  } catch (error) {
    return isMissingFunction(error) ? MISSING : failureOf(error)
  }
}
