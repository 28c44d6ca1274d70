import { CLEARING_TERMS } from '../../base/clearing-terms.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { usualLifeMs } from '../rewrite/pauses.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { storedFact, writeStored } from '../rewrite/stored-rewrite.ts'
import { HOUR_MS, HOUR_WRITE, mayTakeHour, PING_AFTER_MS } from '../usage/life-rules.ts'

/** The turns of a conversation, in memory only: what depends on it is no part of the prompt. */
export interface Pace {
  readonly at: number
  readonly modelTurns: number
  /** Whether this process has read the turn before, so that no other one had a turn between. */
  readonly follows: boolean
  /** How long before this turn the one before was; 0 if that is not known. */
  readonly idleMs: number
  readonly bytes: number
  /** Pauses between turns, and those shorter than the life of the cache. */
  readonly pauses: number
  readonly quick: number
  /** What it cost with this turn, in bytes that no cache has, and how much of that an hour did. */
  readonly spent: number
  readonly premium: number
  /** Whether it is cached for an hour, and whether it was and is no longer. */
  readonly isLong: boolean
  readonly hasLeft: boolean
}

/** A turn, and the one before it that it was counted from. */
interface KnownPace {
  readonly pace: Pace
  readonly before: Pace | null
}

const COUNTS = { bytes: 0, pauses: 0, quick: 0, spent: 0, premium: 0 }

/**
 * Counts the pause before a turn. A turn that is sent again has none of its own. A guarded
 * conversation takes an hour when its prompt is written anyway, and leaves it again, if the premium
 * stays within the budget or would not.
 * @param name of what is noted of the conversation
 * @param hour whether the records say that it took the hour; absent: it is not guarded
 */
export function notePace(
  scanned: ScannedRequest,
  name: string,
  hour: boolean | undefined,
  context: ConversationContext,
): Pace {
  const { memory, now = Date.now } = context.rewrites!
  const literal = memory.get(name)?.literal
  const known = literal == null ? null : (JSON.parse(Buffer.from(literal).toString()) as KnownPace)
  const at = now()
  const last = known?.pace
  const isAgain = last?.modelTurns === scanned.modelTurns
  const isTurn = last !== undefined && scanned.modelTurns > last.modelTurns
  const idleMs = isTurn ? at - last.at : isAgain ? last.idleMs : 0
  const before = isAgain ? known!.before : (last ?? null)
  const pace = nextPace(scanned, { before, hour, at, idleMs }, context)
  const bytes = Buffer.from(JSON.stringify({ pace, before } satisfies KnownPace))
  const position = memory.place(name, writeStored({ ...storedFact({}), literal: bytes }), true)
  if (position !== null) memory.confirm(position)
  return pace
}

interface TurnTerms {
  readonly before: Pace | null
  readonly hour: boolean | undefined
  readonly at: number
  readonly idleMs: number
}

function nextPace(
  scanned: ScannedRequest,
  { before, hour, at, idleMs }: TurnTerms,
  context: ConversationContext,
): Pace {
  const { modelTurns, body } = scanned
  const { pipeline = DEFAULT_PIPELINE } = context
  const { cache_life } = pipeline
  const { cachedRead, cacheWrite } = context.terms?.clearing ?? CLEARING_TERMS
  const { bytes, pauses, quick, spent, premium } = before ?? COUNTS
  const isTurn = before !== null && modelTurns > before.modelTurns
  const lifeMs = usualLifeMs(scanned, context)
  const wasLong = hour === true && before?.hasLeft !== true
  // Pings may have kept it for longer than it lives.
  const keptMs = wasLong ? HOUR_MS : lifeMs + cache_life.pings * PING_AFTER_MS
  const isCold = idleMs > keptMs
  const cached = isTurn && !isCold ? Math.min(bytes, body.length) : 0
  const written = body.length - cached
  const more = (HOUR_WRITE - cacheWrite) * written
  // What another process spent is not known.
  const isPaid =
    before === null || mayTakeHour({ premium: premium + more, spent }, cache_life.budget)
  const isLong = hour !== undefined && (wasLong || isCold) && isPaid
  const extra = isLong && before !== null ? more : 0
  return {
    at,
    modelTurns,
    idleMs,
    bytes: body.length,
    follows: before !== null && modelTurns === before.modelTurns + 1,
    pauses: pauses + Number(isTurn),
    quick: quick + Number(isTurn && idleMs <= lifeMs),
    spent: spent + cachedRead * cached + cacheWrite * written + extra,
    premium: premium + extra,
    isLong,
    hasLeft: hour === true && !isLong,
  }
}
