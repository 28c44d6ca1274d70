import { Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Guard } from '../../proxy/guard.ts'
import type { Era } from './connection.ts'
import { exchange, type HttpEnd, type HttpRequest } from './http-exchange.ts'
import { acceptHeader, configuredHeaders, versionHeader } from './http-headers.ts'
import type { LinkFailure } from './link.ts'
import type { ServerTarget, UpstreamRefusal } from './options.ts'

/** Sends the requests of one link, with what its session and its configuration add to each. */
export class HttpSender {
  /** That the server gave; `null` if it gave none. */
  session: string | null = null
  /** The version of the protocol; `null` before a legacy server has named it. */
  version: string | null
  lastError = ''
  readonly #target: Extract<ServerTarget, { kind: 'http' }>
  readonly #era: Era
  readonly #guard: Guard
  readonly #agent: HttpAgent

  constructor(
    target: Extract<ServerTarget, { kind: 'http' }>,
    version: string | null,
    guard: Guard,
  ) {
    this.#target = target
    this.#era = version === null ? 'legacy' : 'modern'
    this.version = version
    this.#guard = guard
    const options = { keepAlive: true }
    this.#agent =
      target.url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  /**
   * A request that is refused for its credentials is sent once more if there are new ones.
   * @param url of the same origin; absent: the configured one
   */
  async send(
    method: HttpRequest['method'],
    headers: Readonly<Record<string, string>>,
    body: JsonBytes | null,
    signal: AbortSignal,
    url = this.#target.url,
  ): Promise<HttpEnd> {
    const { renewal } = this.#target
    const agent = this.#agent
    const guard = this.#guard
    const once = async () => {
      const all = await this.#headers(method, headers, body)
      const sent = all['authorization']
      return {
        sent,
        end: await exchange({ method, url, headers: all, body, agent, signal, guard }),
      }
    }
    try {
      const first = await once()
      let { end } = first
      const refusal = end.kind === 'head' ? refusalOf(end.answer) : null
      if (end.kind === 'head' && isRefused(refusal) && renewal !== undefined && !signal.aborted) {
        if (await renewal.renew(refusal, first.sent)) {
          end.answer.destroy()
          end = (await once()).end
        }
      }
      if (end.kind !== 'head' && !signal.aborted) this.lastError = end.detail
      return end
    } catch {
      return { kind: 'refused', detail: 'the headers could not be read' }
    }
  }

  async #headers(
    method: HttpRequest['method'],
    headers: Readonly<Record<string, string>>,
    body: JsonBytes | null,
  ): Promise<Record<string, string>> {
    return {
      'user-agent': 'haversack',
      ...configuredHeaders(await this.#target.headers()),
      'accept-encoding': 'identity',
      ...(body === null
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(body.length) }),
      ...acceptHeader(method, this.#era),
      ...versionHeader(this.version),
      ...(this.session === null ? {} : { 'mcp-session-id': this.session }),
      ...headers,
    }
  }

  destroy(): void {
    this.#agent.destroy()
  }
}

function refusalOf({ statusCode = 0, headers }: IncomingMessage): UpstreamRefusal {
  return { status: statusCode, authenticate: headers['www-authenticate'] ?? null }
}

/** What a call gets if its credentials were refused; `null` if they were not. */
export function unauthorizedBy(
  answer: IncomingMessage,
  { renewal }: Extract<ServerTarget, { kind: 'http' }>,
): Extract<LinkFailure, { kind: 'unauthorized' }> | null {
  const refusal = refusalOf(answer)
  if (!isRefused(refusal)) return null
  const failure = { kind: 'unauthorized', authenticate: refusal.authenticate } as const
  return renewal === undefined ? failure : { ...failure, advice: renewal.advice }
}

function isRefused(refusal: UpstreamRefusal | null): refusal is UpstreamRefusal {
  return refusal?.status === 401 || refusal?.status === 403
}
