import type { Access, Caller } from '../../access/access.ts'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import { inTime } from '../../core/base/deadline.ts'
import { AppError } from '../../core/base/errors.ts'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import { billingVendor } from '../../core/conversation/usage/billing.ts'
import {
  type ResponseEnd,
  ResponseEvents,
  SOCKET_ROUTE,
} from '../../core/conversation/usage/socket-events.ts'
import type { ClientMessage, SocketMessages } from '../../proxy/websocket/socket-messages.ts'
import type { AppContext, Rewriting } from '../context.ts'
import { originOf } from '../request/origin-of.ts'
import { vendorEvent } from '../response/problems.ts'
import { withForwarded } from './forwarded-request.ts'
import { type AskedResponse, type MessageTerms, ResponseRequest } from './response-request.ts'
import type { RewriteNeeds } from './rewrite-body.ts'
import { runRewrite } from './run-rewrite.ts'
import type { VendorProxy } from './vendor-proxies.ts'

export interface ResponsesSocketNeeds extends RewriteNeeds {
  readonly rewriting: Rewriting
  readonly access: Pick<Access, 'allow' | 'resume' | 'digestOf'>
}

/**
 * Conversations of the Responses API over one WebSocket. Each message `response.create` is handled
 * as the request that it would be over HTTP: it needs a key in force and counts for its rate, takes
 * a place in the queue, is rewritten by the same operation, and is accounted for.
 */
export function createResponsesSocket(
  c: AppContext,
  {
    vendor,
    host,
    forgets,
    upstream,
  }: Pick<VendorProxy, 'vendor' | 'host' | 'forgets' | 'upstream'>,
  needs: ResponsesSocketNeeds,
): SocketMessages {
  const { access, savings, rewriting } = needs
  const state = c.get('state')
  const { tenant, keyId } = state.caller
  const digest = access.digestOf(keyId)
  const events = new ResponseEvents()
  const conversations = new Conversations()
  const waiting: (AskedResponse & { hasBegun: boolean })[] = []
  let isDraining = false

  /** Accounts for the first response that is waited for. */
  function account(isGiven: boolean, { said, id }: Pick<ResponseEnd, 'said' | 'id'>): void {
    const asked = waiting.shift()
    if (asked === undefined) return
    const { report, untouched } = asked
    conversations.note(id, report?.conversation)
    const answered = {
      vendor: billingVendor(vendor, SOCKET_ROUTE, undefined),
      said,
      report,
      untouched,
      origin: originOf(c),
      isPassedOn: upstream.isOurs,
    }
    if (isGiven) void savings.record(tenant, Promise.resolve(answered))
    else savings.noteRefused({ host, status: null, error: null })
  }

  async function rewrite(body: Uint8Array): ReturnType<MessageTerms['rewrite']> {
    const conversationOf = ({ continues }: RewriteReport) => conversations.of(continues)
    const isPassedOn = upstream.isOurs
    const message = {
      vendor,
      forgets,
      shape: SOCKET_ROUTE,
      body,
      conversationOf,
      isPassedOn,
    } as const
    const rewritten = await runRewrite(c, message, rewriting, needs)
    const { body: bytes, recorded, free: _, ...asked } = rewritten
    if (recorded === undefined) return { bytes, ...asked }
    return { bytes, recorded: inTime(recorded, rewriting.timeoutMs), ...asked }
  }

  return {
    begin(length) {
      try {
        const terms: MessageTerms = {
          caller: digest === null ? state.caller : allowed(access, keyId, digest),
          vendor,
          needs,
          isDraining: () => isDraining,
          asked(asked) {
            waiting.push({ ...asked, hasBegun: false })
            state.forwarded = withForwarded(state.forwarded, asked.report)
          },
          rewrite,
        }
        return new ResponseRequest(length, terms)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return refused(vendorEvent(vendor, error.toProblem()))
      }
    },
    answered(bytes, isLast) {
      const end = events.read(bytes, isLast)
      const first = waiting[0]
      if (!isLast || first === undefined) return
      if (end === null) first.hasBegun = true
      else account(end.isGiven || first.hasBegun, end)
    },
    get pending() {
      return waiting.length
    },
    get hasBegun() {
      return waiting[0]?.hasBegun === true
    },
    drain() {
      isDraining = true
    },
    end() {
      while (waiting.length > 0) account(waiting[0]?.hasBegun === true, NO_END)
    },
  }
}

/** The caller of a key, if one more message may pass. */
function allowed(access: ResponsesSocketNeeds['access'], keyId: string, digest: Buffer): Caller {
  const caller = access.resume(keyId)
  if (caller === null || access.digestOf(keyId)?.equals(digest) !== true) {
    throw new AppError('unauthorized', 'the key is not valid')
  }
  access.allow(caller, 'proxy')
  return caller
}

const NO_END = { said: null, id: undefined }

/** Responses of a connection that a request may continue. */
const MAX_RESPONSES = 256

/**
 * The conversations that responses belong to. A request that has only its new items continues one
 * of these; its own opening would name it after a result.
 */
class Conversations {
  readonly #byResponse = new BoundedMap<string, string>(MAX_RESPONSES)

  /** The name of the conversation of a response; `undefined` if it is not known. */
  of(response: string | undefined): string | undefined {
    return response === undefined ? undefined : this.#byResponse.get(response)
  }

  note(response: string | undefined, conversation: string | undefined): void {
    if (response === undefined || conversation === undefined) return
    this.#byResponse.set(response, conversation)
  }
}

function refused(event: Uint8Array): ClientMessage {
  return { take: () => ({ kind: 'refuse', event }), drop: () => undefined }
}
