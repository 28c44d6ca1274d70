import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { ClientSession, type SessionOptions } from '../client/client-session.ts'
import type { Message } from '../json-rpc.ts'
import { serveLines } from './line-front.ts'
import { checkRequest, isModernRequest } from './modern/request-rules.ts'
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

/** Makes the session of each era; called at most once. */
interface Sessions {
  legacy(): ClientSession
  modern(): ModernSession
}

/**
 * One client on a pipe, of either era. `initialize` pins it to the earlier revisions, and the first
 * request that describes itself to 2026-07-28. `server/discover` is a probe, and pins nothing.
 */
export class EraSession {
  readonly #sessions: Sessions
  #legacy: ClientSession | null = null
  #modern: ModernSession | null = null
  #pinned: 'legacy' | 'modern' | null = null

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  /** @returns the answer to a request; `null` if there is none to send. Never rejects. */
  receive(message: Message): Promise<JsonBytes | null> {
    return this.#eraOf(message) === 'modern'
      ? this.#modernSession().receive(message)
      : this.#legacySession().receive(message)
  }

  async close(): Promise<void> {
    await Promise.all([this.#legacy?.close(), this.#modern?.close()])
  }

  #eraOf(message: Message): 'legacy' | 'modern' {
    if (this.#pinned !== null) return this.#pinned
    if (message.kind !== 'request') return 'legacy'
    const era = isModernRequest(message.params, null) ? 'modern' : 'legacy'
    const pins =
      era === 'legacy'
        ? message.method === 'initialize'
        : message.method !== 'server/discover' && checkRequest(message, null).kind === 'accepted'
    if (pins) this.#pin(era)
    return era
  }

  /** Servers that a probe has started are of no use to the other era. */
  #pin(era: 'legacy' | 'modern'): void {
    this.#pinned = era
    void (era === 'legacy' ? this.#modern : this.#legacy)?.close()
  }

  #legacySession(): ClientSession {
    this.#legacy ??= this.#sessions.legacy()
    return this.#legacy
  }

  #modernSession(): ModernSession {
    this.#modern ??= this.#sessions.modern()
    return this.#modern
  }
}
