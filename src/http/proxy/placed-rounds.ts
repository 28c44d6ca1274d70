import { GrownBytes } from '../../core/base/grown-bytes.ts'
import { withoutPlaced } from '../../core/conversation/prefix/place-breakpoint.ts'
import { type VendorName, vendorNamed } from '../../core/dialects/lookup.ts'
import type { Logger } from '../../observability/logger.ts'
import type { AnswerRounds, RoundForm, RoundStep } from '../../proxy/answer-rounds.ts'
import type { RawHeaders } from '../../proxy/headers.ts'

/** Where breakpoints may be placed, until an upstream refuses one. */
export interface Placing {
  /** The host of a request's upstream; `undefined`: nothing is placed there. */
  at(vendor: VendorName, host: string): string | undefined
  /** Sends a request once more without what its upstream refuses. */
  rounds(host: string, sent: RefusableRequest, inner: AnswerRounds | undefined): PlacedRounds
}

/** A request of which its upstream may refuse what we made of it. */
export interface RefusableRequest {
  readonly body: Uint8Array
  /** The client's own body, if it has deferred tools; absent: it has none. */
  readonly own?: Uint8Array | undefined
  /** Called if its upstream refuses deferred tools, and takes the client's own body. */
  onToolsRefused(): void
}

const REFUSED = 'the upstream refuses what we say of its cache: nothing is said there any more'

export function createPlacing(logger: Pick<Logger, 'warn'>): Placing {
  const refused = new Set<string>()
  return {
    at: (vendor, host) =>
      vendorNamed(vendor).refusesBreakpoints || refused.has(host) ? undefined : host,
    rounds: (host, sent, inner) =>
      new PlacedRounds(sent, inner, () => {
        if (!refused.has(host)) logger.warn({ host }, REFUSED)
        refused.add(host)
      }),
  }
}

/** A longer error passes. */
const MAX_ERROR_BYTES = 64 * 1024
const BAD_REQUEST = 400
/** What an error names that is about what we say of caches. */
const OURS = ['cache_control', 'prompt_cache_retention']
const NOTHING = new Uint8Array(0)

/** The rounds of a request of which its upstream may refuse something. */
export class PlacedRounds implements AnswerRounds {
  readonly #sent: RefusableRequest
  readonly #inner: AnswerRounds | undefined
  readonly #onCacheRefused: () => void
  /** What the upstream refused: it is sent once more without that. */
  #refused: 'cache' | 'tools' | null = null
  /** What came of an answer that may be a refusal; `null`: it is none. */
  #error: GrownBytes | null = null

  constructor(sent: RefusableRequest, inner: AnswerRounds | undefined, onCacheRefused: () => void) {
    this.#sent = sent
    this.#inner = inner
    this.#onCacheRefused = onCacheRefused
  }

  get ping(): Uint8Array {
    return this.#inner?.ping ?? NOTHING
  }

  /** Whether the client's own body was sent in the end. */
  get isOwn(): boolean {
    return this.#refused !== null && this.#sent.own !== undefined
  }

  begin(status: number, headers: RawHeaders): RoundForm {
    // A client can make its vendor refuse a fault of its own, which comes again.
    if (this.#refused !== null && status !== BAD_REQUEST) {
      if (this.#refused === 'cache') this.#onCacheRefused()
      else this.#sent.onToolsRefused()
    }
    const mayRefuse = status === BAD_REQUEST && this.#refused === null
    this.#error = mayRefuse ? new GrownBytes(MAX_ERROR_BYTES) : null
    return mayRefuse ? 'whole' : (this.#inner?.begin(status, headers) ?? 'pass')
  }

  take(bytes: Uint8Array): Uint8Array {
    if (this.#error === null) return this.#inner?.take(bytes) ?? bytes
    if (this.#error.add(bytes)) return NOTHING
    const before = this.#error.take()
    this.#error = null
    return Buffer.concat([before, bytes])
  }

  async end(): Promise<RoundStep> {
    if (this.#error === null) return this.#withoutPlaced(await this.#inner?.end())
    const bytes = this.#error.take()
    this.#error = null
    const said = Buffer.from(bytes)
    const isOfCaches = OURS.some(name => said.includes(name))
    const { body, own } = this.#sent
    if (!isOfCaches && own === undefined) return { kind: 'done', bytes }
    // The error about a deferred tool with a breakpoint names both.
    this.#refused = isOfCaches && !said.includes('defer_loading') ? 'cache' : 'tools'
    return { kind: 'again', body: own ?? withoutPlaced(body) }
  }

  /** Later rounds have the body of the first. */
  #withoutPlaced(step: RoundStep = { kind: 'done', bytes: NOTHING }): RoundStep {
    const isAgain = step.kind === 'again' && this.#refused !== null
    return isAgain ? { ...step, body: withoutPlaced(step.body) } : step
  }
}
