import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import spawn from 'cross-spawn'
import type { Env } from '../../config/env.ts'

/** Exit codes as shells use them (POSIX, Shell Command Language, 2.8.2). */
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127
export const SIGNALLED = 128

/**
 * Runs a command with the streams of this process, and resolves when it has ended.
 * @returns its exit code; 128 and the signal's number if one ended it; 127 or 126 if it
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
      // If it has an id, it runs, and the error means only that a signal could not be sent.
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

/** Signals that ask a process to end; SIGBREAK is Windows' for Ctrl-Break. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const
export type EndSignal = (typeof SIGNALS)[number]

/** A terminal sends these to every process in its foreground: the child has them already. */
const FROM_TERMINAL: ReadonlySet<EndSignal> = new Set(['SIGINT', 'SIGQUIT'])

/** Passes signals on to a child, so that the child decides whether both end. */
export interface SignalRelay {
  /** The first signal that came before there was a child; `null`: none. */
  readonly pending: EndSignal | null
  /** From here on signals go to the child, or nowhere once it has ended. */
  relayTo(child: Pick<ChildProcess, 'kill'>): void
  /** Ends the relay: signals have their usual effect again. */
  close(): void
}

export interface SignalRelayOptions {
  /** Where signals arrive: the process. */
  readonly from?: NodeJS.EventEmitter
  /** Whether there is a terminal that signals the child as well. */
  readonly hasTerminal?: () => boolean
  /** The system, as `process.platform` names it. */
  readonly platform?: NodeJS.Platform
}

/** Keeps this process from being ended by a signal as long as it has something to close. */
export function createSignalRelay(options: SignalRelayOptions = {}): SignalRelay {
  const { from = process, hasTerminal = hasControllingTerminal } = options
  const { platform = process.platform } = options
  let pending: EndSignal | null = null
  let child: Pick<ChildProcess, 'kill'> | null = null

  function onSignal(signal: EndSignal): void {
    if (child === null) pending ??= signal
    // Twice is more than once: many agents take a second interrupt for "quit now".
    else if (!reachesAll(signal)) child.kill(signal)
  }

  /**
   * Whether the child got the signal too. Consoles of Windows signal all of their processes; to
   * signal one from here would end it at once.
   */
  function reachesAll(signal: EndSignal): boolean {
    return platform === 'win32' || (FROM_TERMINAL.has(signal) && hasTerminal())
  }

  for (const signal of SIGNALS) from.on(signal, onSignal)
  return {
    get pending() {
      return pending
    },
    relayTo(next) {
      child = next
    },
    close() {
      for (const signal of SIGNALS) from.off(signal, onSignal)
    },
  }
}

/** Whether the process belongs to a terminal, wherever its streams lead. */
function hasControllingTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false // ENXIO: there is none
  }
}
