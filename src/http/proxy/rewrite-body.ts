import type { IncomingMessage } from 'node:http'
import type { Caller } from '../../access/access.ts'
import { AppError } from '../../core/base/errors.ts'
import { rewriteOp } from '../../core/operations/rewrite-op.ts'
import type { UntouchedReason } from '../../observability/proxy-metrics.ts'
import type { Admission, Ticket } from '../../pool/admission.ts'
import type { SignRequest } from '../../proxy/aws-signature.ts'
import type { AppContext, Rewriting } from '../context.ts'
import { createSink, takeBody } from '../request/body.ts'
import { requestHeader } from '../request/request-header.ts'
import { isBypassed } from '../request/request-terms.ts'
import type { RewrittenBody } from './leaving-body.ts'
import type { Placing } from './placed-rounds.ts'
import { isSigned, rewritableAs } from './rewritable-request.ts'
import { wholeTimeMs } from './run-passes.ts'
import { type RunNeeds, runRewrite } from './run-rewrite.ts'
import type { VendorProxy } from './vendor-proxies.ts'

/** What is forwarded for the body of a request. */
export interface ForwardedBody extends Partial<RewrittenBody> {
  /** Holds the body's place as long as the body is needed. */
  readonly ticket?: Ticket
  /** Spent on waiting for the body, in milliseconds. */
  readonly readingMs: number
  /** The client got a 100, so that it sends its body. */
  readonly continued: boolean
  /** Signs what is forwarded, since the client's own signature is for another host and body. */
  readonly sign?: SignRequest
  /** The request is paused, with what was read of its body put back. */
  readonly paused: boolean
}

export interface RewriteNeeds extends RunNeeds {
  readonly admission: Pick<Admission, 'enter'>
  /** Absent: everything is forwarded unchanged. */
  readonly rewriting?: Rewriting
  /** Absent: no breakpoint is placed. */
  readonly placing?: Pick<Placing, 'at'>
}

const AS_IT_COMES: ForwardedBody = { readingMs: 0, continued: false, paused: false }

/**
 * Reads a body that can be rewritten, and lets a worker rewrite it. If anything fails, the client's
 * own bytes are forwarded. The body of a signed request is read too if it can be signed once more.
 * @param path at the upstream
 * @throws AppError `invalid_request` for a body that breaks off
 */
export async function rewriteBody(
  c: AppContext,
  { vendor, sign, forgets, host, upstream }: Omit<VendorProxy, 'forwarder' | 'pathAtVendor'>,
  path: string,
  needs: RewriteNeeds,
): Promise<ForwardedBody> {
  const { incoming, rewriting } = { ...needs, ...c.env }
  const is =
    rewriting?.isOn(c.get('state').caller.tenant) === true && !isBypassed(c)
      ? rewritableAs(c, path)
      : null
  const signing = sign !== undefined && isSigned(c) ? { sign } : {}
  if (incoming === undefined || rewriting === undefined) return AS_IT_COMES
  if (is === null && (signing.sign === undefined || !hasBody(c)))
    return { ...AS_IT_COMES, ...signing }
  const untouched = (reason: UntouchedReason) => {
    if (is !== null) needs.metrics.proxy.untouched(vendor, reason)
  }
  if (isSigned(c) && signing.sign === undefined) {
    untouched('signed')
    return { ...AS_IT_COMES, untouched: 'signed' }
  }
  const entered = enter(
    c.get('state').caller,
    {
      op: is === null ? undefined : rewriteOp(is.shape),
      length: announced(c) ?? 0,
      maxBytes: rewriting.maxBytes,
      patienceMs: wholeTimeMs(rewriting.timeoutMs),
    },
    needs,
  )
  if (typeof entered === 'string') {
    untouched(entered)
    return { ...AS_IT_COMES, untouched: entered }
  }
  const ticket = entered
  try {
    const continued = c.env.awaitsContinue === true
    if (continued) c.env.outgoing?.writeContinue()
    const asked = performance.now()
    const sink = createSink(announced(c), rewriting.maxBytes, ticket)
    const taken = await takeBody(incoming as IncomingMessage, sink)
    const readingMs = performance.now() - asked
    if ('refusal' in taken) {
      const reason = reasonOf(taken.refusal)
      untouched(reason)
      // The ticket holds the bytes that were read until they are forwarded.
      return { ticket, readingMs, continued, paused: true, untouched: reason }
    }
    const { body } = taken
    const leaves =
      is === null
        ? { body }
        : await runRewrite(
            c,
            {
              vendor,
              forgets,
              ...is,
              body,
              redeems: true,
              isPassedOn: upstream.isOurs,
              placesAt: needs.placing?.at(vendor, host),
            },
            rewriting,
            needs,
          )
    return { ...leaves, ...signing, ticket, readingMs, continued, paused: false }
  } catch (error) {
    ticket.leave()
    throw error
  }
}

function announced(c: AppContext): number | null {
  const length = requestHeader(c, 'content-length')
  return length === undefined ? null : Number(length)
}

function hasBody(c: AppContext): boolean {
  return (announced(c) ?? 0) > 0 || requestHeader(c, 'transfer-encoding') !== undefined
}

/** What is known of a body before it is read. */
interface ArrivingBody {
  /** The operation that it is for; `undefined` if it is only signed. */
  readonly op: string | undefined
  /** As announced, in bytes; 0 if it is not known. */
  readonly length: number
  readonly maxBytes: number
  /** How long it may wait for a thread, rather than change a conversation's prefix. */
  readonly patienceMs: number
}

/** A place for the body, or why there is none. */
export function enter(
  caller: Caller,
  { op, length, maxBytes, patienceMs }: ArrivingBody,
  { admission }: Pick<RewriteNeeds, 'admission'>,
): Ticket | UntouchedReason {
  if (length > maxBytes) return 'too_large'
  try {
    return admission.enter(caller, length, op, patienceMs)
  } catch (error) {
    return reasonOf(error)
  }
}

/** Why a body is forwarded unchanged that met a limit. Throws what is no limit. */
export function reasonOf(error: unknown): UntouchedReason {
  if (!(error instanceof AppError)) throw error
  return error.code === 'payload_too_large' ? 'too_large' : 'overloaded'
}
