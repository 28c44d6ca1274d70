import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { ClientSession, type SessionOptions } from '../client/client-session.ts'
import { EraSession } from './era-session.ts'
import { serveLines } from './line-front.ts'
import { SEALING_KEY_BYTES } from './modern/seal.ts'
import { ModernSession } from './modern/stdio-session.ts'

export interface StdioOptions extends Omit<SessionOptions, 'send'> {
  /** 32 bytes that seal what clients keep for us; random ones if there is none. */
  readonly sealingKey?: Uint8Array
  /** Reports an error that nothing expected. */
  onBug?(error: unknown): void
  /** Ends it from outside. */
  readonly stop: AbortSignal
}

/**
 * Serves one client on a pair of streams by a gateway in this process, until its input ends or its
 * output is gone. Never rejects.
 */
export function serveStdio(
  input: Readable,
  output: Writable,
  options: StdioOptions,
): Promise<void> {
  return serveLines(
    { input, output, stop: options.stop },
    write =>
      new EraSession({
        legacy: () => new ClientSession({ ...options, send: write }),
        modern: () => new ModernSession(modernOptions(options), write),
      }),
  )
}

function modernOptions({ version, context, createGateway, sealingKey, onBug }: StdioOptions) {
  return {
    ...(context === undefined ? {} : { context }),
    version,
    createGateway,
    sealingKey: sealingKey ?? randomBytes(SEALING_KEY_BYTES),
    onBug: onBug ?? (() => {}),
  }
}
