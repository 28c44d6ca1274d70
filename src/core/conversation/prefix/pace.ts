import { hash } from 'node:crypto'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/pipeline-config.ts'
import { conversationName } from '../parse/conversation-name.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { usualLifeMs } from '../rewrite/pauses.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { storedFact, writeStored } from '../rewrite/stored-rewrite.ts'

/** The turns of a conversation, in memory only: what depends on it is no part of the prompt. */
export interface Pace {
  readonly at: number
  readonly modelTurns: number
  /** How long before this turn the one before was; 0 if that is not known. */
  readonly idleMs: number
  /** Pauses between turns, and those shorter than the life of the cache. */
  readonly pauses: number
  readonly quick: number
  /** What it costs, and what those before it did, in bytes that no cache has. */
  readonly bytes: number
  readonly cost: number
  readonly spent: number
}

/** Counts the pause before a turn. A turn that is sent again has none of its own. */
export function notePace(scanned: ScannedRequest, context: ConversationContext): Pace {
  const { rewrites, pipeline = DEFAULT_PIPELINE } = context
  const { modelTurns, body } = scanned
  const { now = Date.now, memory, tenant } = rewrites!
  const name = hash('sha256', JSON.stringify(['pace', tenant, conversationName(scanned)]), 'hex')
  const known = memory.get(name)?.literal
  const before = known == null ? null : (JSON.parse(Buffer.from(known).toString()) as Pace)
  const at = now()
  const isTurn = before !== null && modelTurns > before.modelTurns
  const isAgain = before !== null && modelTurns === before.modelTurns
  const idleMs = isTurn ? at - before.at : isAgain ? before.idleMs : 0
  const isQuick = isTurn && idleMs <= usualLifeMs(scanned, pipeline, context)
  const { cached_read: read, cache_write: write } = pipeline.clearing
  const cached = isQuick ? Math.min(before.bytes, body.length) : 0
  const pace = {
    ...{ at, modelTurns, idleMs },
    pauses: (before?.pauses ?? 0) + Number(isTurn),
    quick: (before?.quick ?? 0) + Number(isQuick),
    bytes: body.length,
    cost: isAgain ? before.cost : read * cached + write * (body.length - cached),
    spent: (before?.spent ?? 0) + (isTurn ? before.cost : 0),
  }
  const literal = Buffer.from(JSON.stringify(pace))
  const position = memory.place(name, writeStored({ ...storedFact({}), literal }), true)
  if (position !== null) memory.confirm(position)
  return pace
}
