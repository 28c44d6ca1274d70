import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import { EMPTY_OBJECT, objectMember, textMember, withMember } from './members.ts'

/** The key of `_meta` that W3C trace context has, as in HTTP. */
const TRACEPARENT = 'traceparent'

/** Version, trace, parent, flags (W3C Trace Context, section 3.2). */
const WELL_FORMED = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * The parameters with the trace context of the HTTP request that they came in, unless they have one
 * of their own, which is nearer to the caller.
 */
export function withTrace(params: JsonBytes, traceparent: string | null | undefined): JsonBytes {
  if (traceparent == null || !WELL_FORMED.test(traceparent)) return params
  if (traceOf(params) !== null) return params
  const meta = objectMember(params, '_meta') ?? EMPTY_OBJECT
  const traced = withMember(meta, TRACEPARENT, JSON.stringify(traceparent))
  return (traced && withMember(params, '_meta', traced)) ?? params
}

/** The trace context in the parameters of a request; `null` if there is none. */
export function traceOf(params: JsonBytes): string | null {
  const meta = objectMember(params, '_meta')
  return meta === null ? null : textMember(meta, TRACEPARENT)
}
