import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { ClientSession } from '../client/client-session.ts'
import type { Message } from '../json-rpc.ts'
import { checkRequest, isModernRequest } from './modern/request-rules.ts'
import type { ModernSession } from './modern/stdio-session.ts'

/** Makes the session of each era; called at most once. */
export interface Sessions {
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
