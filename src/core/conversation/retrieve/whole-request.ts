import type { FreshRecord, RetrievingRequest } from '../../contract/operation-result.ts'
import { bodyRules } from '../../dialects/lookup.ts'
import { memberOf } from '../../json/bytes/json-node.ts'
import type { ReadLimits } from '../../json/bytes/read-json.ts'
import { type Replacement, splice } from '../../json/bytes/splice.ts'
import { type ScannedRequest, scanRequest } from '../parse/scan-request.ts'
import type { LeversInForce } from '../prefix/levers.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { HiddenTurns } from './hidden-turns.ts'
import { restoreTurns } from './restore-turns.ts'

/** A request with all that the provider had of its conversation. */
export interface WholeRequest {
  readonly bytes: Uint8Array
  readonly scanned: ScannedRequest
  /** Asks whether other processes hid something. */
  readonly questions: readonly FreshRecord[]
  /** Absent: the request has no tool of ours. */
  readonly redeeming?: RetrievingRequest
}

interface KnownOfRequest {
  readonly conversation: string
  readonly levers: LeversInForce | null
  readonly limits: ReadLimits
}

/**
 * Puts back what the proxy hid from the client in earlier turns, before anything else is done.
 * Returns `null` if the whole request is beyond a limit.
 */
export function wholeRequest(
  body: Uint8Array,
  received: ScannedRequest,
  { conversation, levers, limits }: KnownOfRequest,
  context: ConversationContext,
): WholeRequest | null {
  if (levers?.ownTool === undefined) return { bytes: body, scanned: received, questions: [] }
  const turns = new HiddenTurns(received, conversation, context)
  const { replacements, restored, changed } = restoreTurns(received, turns)
  const { questions } = turns
  const redeeming = { messages: received.read.length, restored, changed }
  if (replacements.length === 0) {
    return { bytes: body, scanned: received, questions, redeeming }
  }
  const bytes = splice(body, replacements)
  const grown = { ...limits, maxBytes: Math.max(limits.maxBytes, bytes.length) }
  const scanned = scanRequest(bytes, received.route, grown)
  return scanned === null ? null : { bytes, scanned, questions, redeeming }
}

/** Where further messages are put into the body once it is changed. */
export function appendAt(
  { request, route }: ScannedRequest,
  changes: readonly Replacement[],
): Pick<RetrievingRequest, 'appendAt'> {
  const list = memberOf(request, bodyRules(route).list)
  if (list?.items == null || list.items.length === 0) return {}
  const grown = changes
    .filter(({ start }) => start < list.end)
    .reduce((sum, { start, end, literal }) => sum + literal.length - (end - start), 0)
  return { appendAt: list.end - 1 + grown }
}
