import type { Caller } from '../../access/access.ts'
import { AppError } from '../../core/base/errors.ts'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import { MessageType, SOCKET_ROUTE } from '../../core/conversation/usage/socket-events.ts'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { rewriteOp } from '../../core/operations/rewrite-op.ts'
import type { UntouchedReason } from '../../observability/proxy-metrics.ts'
import type { Ticket } from '../../pool/admission.ts'
import type {
  ClientMessage,
  RewrittenMessage,
  TakenMessage,
} from '../../proxy/websocket/socket-messages.ts'
import type { Rewriting } from '../context.ts'
import { createSink, type Sink } from '../request/body.ts'
import { vendorEvent } from '../response/problems.ts'
import { enter, type RewriteNeeds, reasonOf } from './rewrite-body.ts'
import { wholeTimeMs } from './run-passes.ts'

/** A response that was asked for. */
export interface AskedResponse {
  /** What was done to the message that asks for it. */
  readonly report?: RewriteReport | undefined
  /** Why that message was forwarded unchanged. */
  readonly untouched?: string | undefined
}

/** What the messages of a connection share. */
export interface MessageTerms {
  readonly caller: Caller
  readonly vendor: VendorName
  readonly needs: Pick<RewriteNeeds, 'admission' | 'metrics'> & { readonly rewriting: Rewriting }
  /** Whether no response may be asked for any more. */
  isDraining(): boolean
  /** A message that asks for a response is on its way. */
  asked(asked: AskedResponse): void
  /** Rewrites a message as the body of a request. Never rejects. */
  rewrite(body: Uint8Array): Promise<Omit<RewrittenMessage, 'done'> & AskedResponse>
}

/** The message that asks for a response; all others pass. */
const CREATE = 'response.create'
const OP = rewriteOp(SOCKET_ROUTE)
const HELD: TakenMessage = { kind: 'held' }

/**
 * A text message of a client. It is held as long as it may ask for a response that is rewritten.
 * Otherwise it passes as it comes.
 */
export class ResponseRequest implements ClientMessage {
  readonly #terms: MessageTerms
  readonly #length: number | null
  readonly #type = new MessageType()
  #isCreate = false
  #passes: boolean
  #untouched: UntouchedReason | undefined
  #ticket: Ticket | null = null
  #sink: Sink | null = null

  constructor(length: number | null, terms: MessageTerms) {
    this.#terms = terms
    this.#length = length
    this.#passes = !terms.needs.rewriting.isOn(terms.caller.tenant)
  }

  take(bytes: Buffer, isLast: boolean): TakenMessage {
    const type = this.#type.read(bytes)
    if (type === CREATE && !this.#isCreate) {
      this.#isCreate = true
      // A message that has begun to pass must come to its end.
      if (this.#terms.isDraining() && !this.#passes) return this.#refuse()
    }
    const isOther = type === null ? isLast : type !== CREATE
    if (this.#passes || isOther) return this.#pass(bytes, isLast)
    this.#untouched = this.#hold(bytes)
    if (this.#untouched !== undefined) return this.#pass(bytes, isLast)
    return isLast ? { kind: 'rewrite', message: this.#rewrite() } : HELD
  }

  drop(): void {
    this.#ticket?.leave()
    this.#sink = null
  }

  #refuse(): TakenMessage {
    this.drop()
    const { vendor } = this.#terms
    const problem = new AppError('overloaded', 'the service is shutting down', { retry_after_s: 1 })
    return { kind: 'refuse', event: vendorEvent(vendor, problem.toProblem()) }
  }

  /** Passes what was held and what comes. */
  #pass(bytes: Buffer, isLast: boolean): TakenMessage {
    this.#passes = true
    const held = this.#sink?.taken()
    this.drop()
    if (isLast && this.#isCreate) {
      const { vendor, needs } = this.#terms
      const untouched = this.#untouched
      if (untouched !== undefined) needs.metrics.proxy.untouched(vendor, untouched)
      this.#terms.asked({ untouched })
    }
    return { kind: 'pass', bytes: held === undefined ? bytes : Buffer.concat([held, bytes]) }
  }

  /** Holds a piece. Returns why it cannot be held. */
  #hold(bytes: Buffer): UntouchedReason | undefined {
    const { caller, needs } = this.#terms
    const { maxBytes, timeoutMs } = needs.rewriting
    if (this.#ticket === null || this.#sink === null) {
      const patienceMs = wholeTimeMs(timeoutMs)
      const arriving = { op: OP, length: this.#length ?? 0, maxBytes, patienceMs }
      const entered = enter(caller, arriving, needs)
      if (typeof entered === 'string') return entered
      this.#ticket = entered
      this.#sink = createSink(this.#length, maxBytes, entered)
    }
    try {
      this.#sink.add(bytes)
      return undefined
    } catch (error) {
      return reasonOf(error)
    }
  }

  async #rewrite(): Promise<RewrittenMessage> {
    const { asked, rewrite } = this.#terms
    const body = this.#sink?.taken() ?? new Uint8Array(0)
    this.#sink = null
    const { bytes, recorded, ...done } = await rewrite(body)
    return {
      bytes,
      ...(recorded === undefined ? {} : { recorded }),
      done: isSent => {
        if (isSent) asked(done)
        this.#ticket?.leave()
      },
    }
  }
}
