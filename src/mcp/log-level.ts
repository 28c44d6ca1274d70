import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import { EMPTY_OBJECT, member, withMember } from './members.ts'
import { META } from './upstream/envelope.ts'

/**
 * Parameters for a modern server, which sends logs of a request only if the request states a level.
 * @param level what the client has set for all requests, a JSON string; `null`: nothing
 */
export function withLogLevel(params: JsonBytes, level: JsonBytes | null): JsonBytes {
  const meta = level === null ? null : (member(params, '_meta') ?? EMPTY_OBJECT)
  if (level === null || meta === null || member(meta, META.logLevel) !== undefined) return params
  const levelled = withMember(meta, META.logLevel, level)
  return (levelled && withMember(params, '_meta', levelled)) ?? params
}
