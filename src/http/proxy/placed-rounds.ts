import { GrownBytes } from '../../core/base/grown-bytes.ts'
import { withoutPlaced } from '../../core/conversation/prefix/place-breakpoint.ts'
import type { Logger } from '../../observability/logger.ts'
import type { AnswerRounds, RoundForm, RoundStep } from '../../proxy/answer-rounds.ts'
import type { RawHeaders } from '../../proxy/headers.ts'
import type { Vendor } from '../../proxy/vendor-errors.ts'

/** Where breakpoints may be placed, until an upstream refuses one. */
export interface Placing {
  /** The host of a request's upstream; `undefined`: nothing is placed there. */
  at(vendor: Vendor, host: string): string | undefined
  /** Sends a request once more without its breakpoint or life if its upstream refuses that. */
  rounds(host: string, body: Uint8Array, inner: AnswerRounds | undefined): AnswerRounds
}

const REFUSED = 'the upstream refuses what we say of its cache: nothing is said there any more'

export function createPlacing(logger: Pick<Logger, 'warn'>): Placing {
  const refused = new Set<string>()
  return {
    // Bedrock's own integration refuses it.
    at: (vendor, host) => (vendor === 'amazon' || refused.has(host) ? undefined : host),
    rounds: (host, body, inner) =>
      new PlacedRounds(body, inner, () => {
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

class PlacedRounds implements AnswerRounds {
  readonly #body: Uint8Array
  readonly #inner: AnswerRounds | undefined
  readonly #onRefused: () => void
  #isRefused = false
  /** What came of an answer that may be a refusal; `null`: it is none. */
  #error: GrownBytes | null = null

  constructor(body: Uint8Array, inner: AnswerRounds | undefined, onRefused: () => void) {
    this.#body = body
    this.#inner = inner
    this.#onRefused = onRefused
  }

  get ping(): Uint8Array {
    return this.#inner?.ping ?? NOTHING
  }

  begin(status: number, headers: RawHeaders): RoundForm {
    // A client can make its vendor name the field in an error of its own, which comes again.
    if (this.#isRefused && status !== BAD_REQUEST) this.#onRefused()
    const mayRefuse = status === BAD_REQUEST && !this.#isRefused
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
    if (!OURS.some(name => said.includes(name))) return { kind: 'done', bytes }
    this.#isRefused = true
    return { kind: 'again', body: withoutPlaced(this.#body) }
  }

  /** Later rounds have the body of the first. */
  #withoutPlaced(step: RoundStep = { kind: 'done', bytes: NOTHING }): RoundStep {
    const isAgain = step.kind === 'again' && this.#isRefused
    return isAgain ? { ...step, body: withoutPlaced(step.body) } : step
  }
}
