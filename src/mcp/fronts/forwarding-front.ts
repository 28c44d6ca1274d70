import { BoundedMap } from '../../core/base/bounded-map.ts'
import { forwardedHeaders } from '../client/forwarded-headers.ts'
import { errorOutcome, RPC_ERRORS, writeResponse } from '../json-rpc.ts'
import type { UpstreamRefusal } from '../upstream/options.ts'
import type { HttpExchange, HttpFront, HttpReply } from './http-exchange.ts'

export interface ForwardingOptions {
  readonly front: HttpFront
  /** Headers that servers of this endpoint get, by lower-case name. */
  readonly names: readonly string[]
  /**
   * Asks the only server of the endpoint with these headers; `null` if it has several, each with
   * credentials of its own. May reject if the server cannot be reached.
   */
  readonly probe: ((headers: Readonly<Record<string, string>>) => Promise<UpstreamRefusal>) | null
  /** Milliseconds; never jumps. */
  now(): number
}

/** How long a server is believed that took, or refused, some credentials, in milliseconds. */
const TAKEN_MS = 60_000
const REFUSED_MS = 5_000
/** Credentials of which that is known. */
const MOST_KNOWN = 10_000

/** Our own key comes in no other header, if headers are forwarded. */
const OWN_KEY = 'x-haversack-key'

/**
 * An endpoint whose servers get headers of the client's requests. Each set of them is a credential
 * of its own: clients with different ones share no session, connection or state. What the only
 * server of an endpoint answers to bad ones, 401 and `WWW-Authenticate`, reaches the client.
 */
export class ForwardingFront implements HttpFront {
  readonly #options: ForwardingOptions
  readonly #known = new BoundedMap<
    string,
    { readonly refusal: UpstreamRefusal | null; readonly until: number }
  >(MOST_KNOWN)

  constructor(options: ForwardingOptions) {
    this.#options = options
  }

  async answer(exchange: HttpExchange): Promise<HttpReply> {
    const { front, names } = this.#options
    const { tenant, credential, project } = exchange.caller
    // Otherwise one of these headers is our own key, whatever it looks like.
    const isForServers = credential === '' || exchange.header(OWN_KEY) !== null
    const forwarded = forwardedHeaders(names, name => (isForServers ? exchange.header(name) : null))
    const refusal = await this.#refusalOf(forwarded.identity, forwarded.headers)
    if (refusal !== null) return unauthorized(refusal)
    const named = project === undefined ? {} : { project }
    const caller = {
      tenant,
      credential: `${credential} ${forwarded.identity}`,
      forwarded,
      ...named,
    }
    const { method, body, signal } = exchange
    return front.answer({ method, body, signal, caller, header: name => exchange.header(name) })
  }

  close(): Promise<void> {
    return this.#options.front.close()
  }

  async #refusalOf(
    identity: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<UpstreamRefusal | null> {
    const { probe, now } = this.#options
    if (probe === null) return null
    const known = this.#known.get(identity)
    if (known !== undefined && now() < known.until) return known.refusal
    const answer = await probe(headers).catch(() => null)
    if (answer === null) return null
    const refusal = answer.status === 401 ? answer : null
    this.#known.set(identity, { refusal, until: now() + (refusal ? REFUSED_MS : TAKEN_MS) })
    return refusal
  }
}

function unauthorized({ authenticate }: UpstreamRefusal): HttpReply {
  const message = 'the server refuses the forwarded credentials'
  return {
    status: 401,
    headers: {
      'content-type': 'application/json',
      ...(authenticate === null ? {} : { 'www-authenticate': authenticate }),
    },
    body: writeResponse(null, errorOutcome(RPC_ERRORS.invalidRequest, message)),
  }
}
