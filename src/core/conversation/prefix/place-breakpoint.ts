import { bodyRules, dialectOfBody, dialects } from '../../dialects/lookup.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import type { Pace } from './pace.ts'
import { RETENTION } from './retention.ts'

/**
 * A breakpoint at the top of a request: it is at the last block that can be cached
 * (platform.claude.com/docs/en/build-with-claude/prompt-caching).
 */
/** What a breakpoint says that is to live for an hour. */
export const HOUR = ',"ttl":"1h"'

const placed = (ttl: string) => `"cache_control":{"type":"ephemeral"${ttl}},`
/** In strings its quotes are escaped. */
const ANY_BREAKPOINT = '"cache_control"'

/** So many turns must come before the cache is forgotten: writing costs a quarter of a prompt. */
const LEAST_QUICK = 0.4

/** Whether a request goes to Anthropic's own API, or to a gateway that is said to be like it. */
export function isOwnApi(
  scanned: Pick<ScannedRequest, 'route'>,
  context: ConversationContext,
): boolean {
  const { terms, pipeline = DEFAULT_PIPELINE } = context
  const host = terms?.placesAt ?? ''
  const isOwn =
    host === dialectOfBody(scanned.route).host || pipeline.cache_life.hosts.includes(host)
  return isOwn && isKnownHost(scanned, context)
}

/** Whether the upstream of a request is known to take what we say of its cache. */
export function isKnownHost(
  { route }: Pick<ScannedRequest, 'route'>,
  { terms, pipeline = DEFAULT_PIPELINE }: ConversationContext,
): boolean {
  const host = terms?.placesAt
  if (host === undefined || terms?.countsOnly === true) return false
  if (bodyRules(route).hasBlocks !== true) return false
  const isKnown =
    host === dialectOfBody(route).host ||
    dialects.some(({ breakpointHosts }) => breakpointHosts?.test(host))
  return isKnown || pipeline.cache_life.hosts.includes(host)
}

/** Whether a breakpoint may be placed in a request, judged on what its client sent. */
export function mayPlace(scanned: ScannedRequest, context: ConversationContext): boolean {
  return isKnownHost(scanned, context) && !scanned.body.includes(ANY_BREAKPOINT)
}

/**
 * Ends the cached prompt with the request, from the second one of a conversation on, while its
 * turns come before the cache is forgotten. Returns `null` if the request stays.
 * @param ttl names its life, if that is not the usual one
 */
export function placeBreakpoint(
  { request }: ScannedRequest,
  isFirst: boolean,
  { quick, pauses }: Pace,
  ttl: string,
): Replacement | null {
  if (isFirst || (quick + 1) / (pauses + 2) < LEAST_QUICK) return null
  const { start } = request
  return { start, end: start + 1, literal: Buffer.from(`{${placed(ttl)}`) }
}

/** A breakpoint that names our life. Each `cache_control` of such a body is one. */
const LENGTHENED = new RegExp(`("cache_control"\\s*:\\s*\\{[^{}]{0,256})${HOUR}\\}`, 'g')

/** A body without what was placed in it, and without the life that we ask for. */
export function withoutPlaced(body: Uint8Array): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const usual = bytes.includes(HOUR)
    ? Buffer.from(bytes.toString('latin1').replace(LENGTHENED, '$1}'), 'latin1')
    : bytes
  const at = usual.indexOf('{') + 1
  const isThere = (text: string) => usual.toString('latin1', at, at + text.length) === text
  const own = [placed(''), RETENTION].find(isThere)
  if (own === undefined) return usual === bytes ? body : usual
  return Buffer.concat([usual.subarray(0, at), usual.subarray(at + own.length)])
}
