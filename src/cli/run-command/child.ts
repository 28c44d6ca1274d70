import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Env } from '../../config/env.ts'
import type { SignalRelay } from './signal-relay.ts'

/** As shells answer (POSIX, Shell Command Language, 2.8.2). */
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127
const SIGNALLED = 128

/**
 * Runs a command with the streams of this process, and resolves when it has ended.
 * @returns its exit code; 128 and the signal's number where one ended it; 127 or 126 where it
 * cannot be found or run
 */
export function runChild(
  [command, ...args]: readonly [string, ...string[]],
  env: Env,
  relay: Pick<SignalRelay, 'relayTo'>,
): Promise<number> {
  return new Promise(resolve => {
    const child = spawn(command, args, { stdio: 'inherit', env })
    relay.relayTo(child)
    child.once('exit', (code, signal) => {
      resolve(code ?? codeOf(signal ?? 'SIGKILL'))
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      // With an id it runs, and only a signal could not be sent.
      if (child.pid !== undefined) return
      const isMissing = error.code === 'ENOENT'
      const reason = isMissing ? 'not found' : `cannot be run (${error.code})`
      process.stderr.write(`haversack: ${command}: ${reason}\n`)
      resolve(isMissing ? NOT_FOUND : NOT_EXECUTABLE)
    })
  })
}

/** The exit code of an end by a signal. */
export function codeOf(signal: NodeJS.Signals): number {
  return SIGNALLED + constants.signals[signal]
}
