import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { skipSpace } from '../../core/json/bytes/json-tokens.ts'
import { OPEN_BRACE, QUOTE } from '../../core/json/char-codes.ts'
import { errorOutcome, jsonBytes, RPC_ERRORS } from '../json-rpc.ts'
import { member } from '../members.ts'
import { Backoff } from './backoff.ts'
import { CallLimit } from './call-limit.ts'
import { type Clock, pause } from './clock.ts'
import type { ConnectionListener } from './connection.ts'
import type { Session, SessionCall } from './session.ts'

/** The lists that a server may change, and how they are asked for. */
const LISTS = [
  ['tools', 'toolsListChanged'],
  ['prompts', 'promptsListChanged'],
  ['resources', 'resourcesListChanged'],
] as const

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/**
 * Listens for changes of a modern server's lists, again whenever the stream ends. Resolves if the
 * server has none to report, or the signal is aborted.
 */
export async function followChanges(
  session: Session,
  capabilities: JsonBytes,
  listener: ConnectionListener,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const lists = LISTS.filter(([list]) => isAnnounced(capabilities, list))
  if (lists.length === 0) return
  const notifications = Object.fromEntries(lists.map(([, name]) => [name, true]))
  const backoff = new Backoff(clock)
  // Between two streams nothing is reported.
  const changed = (list: string) =>
    listener.onNotification(`notifications/${list}/list_changed`, null)
  let isHonoured = true
  let isAgain = false
  const call: SessionCall = {
    method: 'subscriptions/listen',
    params: jsonBytes({ notifications }),
    notify(method, params) {
      if (method !== ACKNOWLEDGED) {
        // What this stream did not ask for belongs to another one, or to none.
        const isAsked = lists.some(([list]) => method === `notifications/${list}/list_changed`)
        if (isAsked) listener.onNotification(method, params)
        return
      }
      backoff.connected()
      if (isAgain) for (const [list] of lists) changed(list)
      isAgain = true
      const honoured = params === null ? null : member(params, 'notifications')
      isHonoured = honoured == null || !isEmptyObject(honoured)
    },
    ask: () => Promise.resolve(errorOutcome(RPC_ERRORS.methodNotFound, 'nothing can be asked')),
  }
  while (!signal.aborted && !session.isGone) {
    const limit = new CallLimit(signal, Number.POSITIVE_INFINITY, clock)
    const end = await session.call(call, limit)
    limit.release()
    const mayGoOn =
      end.kind === 'lost' || (end.kind === 'answered' && end.outcome.kind === 'result')
    if (!mayGoOn || !isHonoured) return
    await pause(clock, backoff.next(), signal)
  }
}

function isAnnounced(capabilities: JsonBytes, list: string): boolean {
  const capability = member(capabilities, list)
  if (capability == null) return false
  return String(member(capability, 'listChanged')) === 'true'
}

/** Whether there is no member in it: it is empty, or no object. */
function isEmptyObject(raw: JsonBytes): boolean {
  return raw[0] !== OPEN_BRACE || raw[skipSpace(raw, 1)] !== QUOTE
}
