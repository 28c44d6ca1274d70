import { hash } from 'node:crypto'
import type { Replacement } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/pipeline-config.ts'
import { conversationName } from '../parse/conversation-name.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { usualLifeMs } from '../rewrite/pauses.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { storedFact, writeStored } from '../rewrite/stored-rewrite.ts'

/**
 * A breakpoint at the top of a request: it is at the last block that can be cached
 * (platform.claude.com/docs/en/build-with-claude/prompt-caching).
 */
const PLACED = '"cache_control":{"type":"ephemeral"},'
/** In strings its quotes are escaped. */
const ANY_BREAKPOINT = '"cache_control"'

/** Anthropic's API, Microsoft Foundry and Vertex AI. Others are in `cache_life.hosts`. */
const HOSTS = [
  /^api\.anthropic\.com$/,
  /^[\w-]+\.services\.ai\.azure\.com$/,
  /^(?:[\w-]+-)?aiplatform\.googleapis\.com$/,
]

/** So many turns must come before the cache is forgotten: writing costs a quarter of a prompt. */
const LEAST_QUICK = 0.4

/** The turns of a conversation, in memory only: what is placed is no part of the cached prompt. */
interface Pace {
  readonly at: number
  readonly modelTurns: number
  /** Pauses between turns, and those shorter than the life of the cache. */
  readonly pauses: number
  readonly quick: number
}

/** Whether a breakpoint may be placed in a request, judged on what its client sent. */
export function mayPlace(
  { body, route }: ScannedRequest,
  { terms, pipeline = DEFAULT_PIPELINE }: ConversationContext,
): boolean {
  const host = terms?.placesAt
  if (host === undefined || route !== 'anthropic_messages' || terms?.countsOnly === true)
    return false
  const isKnown = HOSTS.some(known => known.test(host)) || pipeline.cache_life.hosts.includes(host)
  return isKnown && !body.includes(ANY_BREAKPOINT)
}

/**
 * Ends the cached prompt with the request, from the second one of a conversation on, while its
 * turns come before the cache is forgotten. Returns `null` if the request stays.
 */
export function placeBreakpoint(
  scanned: ScannedRequest,
  isFirst: boolean,
  context: ConversationContext,
): Replacement | null {
  if (!mayPlace(scanned, context)) return null
  const { quick, pauses } = notePace(scanned, context)
  if (isFirst || (quick + 1) / (pauses + 2) < LEAST_QUICK) return null
  const { start } = scanned.request
  return { start, end: start + 1, literal: Buffer.from(`{${PLACED}`) }
}

/** A body without the breakpoint that was placed in it. */
export function withoutPlaced(body: Uint8Array): Uint8Array {
  const at = Buffer.from(body.buffer, body.byteOffset, body.byteLength).indexOf(PLACED)
  if (at === -1) return body
  return Buffer.concat([body.subarray(0, at), body.subarray(at + PLACED.length)])
}

/** Counts the pause before a turn. A turn that is sent again has none. */
function notePace(scanned: ScannedRequest, context: ConversationContext): Pace {
  const { rewrites, pipeline = DEFAULT_PIPELINE } = context
  const { modelTurns } = scanned
  const { now = Date.now, memory, tenant } = rewrites!
  const name = hash('sha256', JSON.stringify(['pace', tenant, conversationName(scanned)]), 'hex')
  const known = memory.get(name)?.literal
  const before = known == null ? null : (JSON.parse(Buffer.from(known).toString()) as Pace)
  const at = now()
  const isTurn = before !== null && modelTurns > before.modelTurns
  const isQuick = isTurn && at - before.at <= usualLifeMs(scanned, pipeline, context)
  const pace = {
    ...{ at, modelTurns },
    pauses: (before?.pauses ?? 0) + Number(isTurn),
    quick: (before?.quick ?? 0) + Number(isQuick),
  }
  const literal = Buffer.from(JSON.stringify(pace))
  const position = memory.place(name, writeStored({ ...storedFact({}), literal }), true)
  if (position !== null) memory.confirm(position)
  return pace
}
