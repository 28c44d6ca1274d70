import { drawUnit, type UnitArm, unitKey } from '../../arms/assign.ts'
import type { FreshRecord } from '../../contract/operation-result.ts'
import type { RequestTerms } from '../../contract/request-terms.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { sessionUnit } from '../parse/unit-name.ts'
import { hasNoLever, isNew, leversKey } from '../prefix/levers.ts'
import type { ConversationContext } from './rewrite-context.ts'
import { recall } from './rewrite-result.ts'
import { type StoredRewrite, storedFact, writeStored } from './stored-rewrite.ts'

/** The arm of the unit that a request is of. */
export interface RequestArm {
  /** 64 hex digits. */
  readonly key: string
  /** What holds for this request. */
  readonly unit: UnitArm
  /** What is asked for, or recorded, of it. */
  readonly records: readonly FreshRecord[]
}

/** A request, as far as its unit follows from it. */
interface ArmRequest {
  readonly scanned: ScannedRequest
  readonly conversation: string
  /** The name of the first result that is recorded; `undefined` if there is none yet. */
  first(): string | undefined
}

const NO_BYTES = new Uint8Array(0)

/**
 * The arm of a request's unit: the recorded one, else the one that is drawn now, mostly with the
 * first request of a session. A unit that is new although its model has spoken may have begun
 * before arms were drawn, and then it must stay rewritten. So before it is held out, the record is
 * asked for what would have been decided then.
 * @returns `null` without terms, or if nothing tells which unit the request is of
 */
export function armOf(request: ArmRequest, context: ConversationContext): RequestArm | null {
  const { arms } = context.terms ?? {}
  const name = arms === undefined ? undefined : unitOf(request, arms)
  if (arms === undefined || name === undefined) return null
  const key = unitKey(arms, name)
  const recorded = recall(key, context)?.unit
  if (recorded !== undefined) return { key, unit: recorded, records: [] }
  const earlier = earlierDecisions(request, context)
  const hasBegun = earlier.some(each => changesBytes(recall(each, context)))
  const drawn = drawUnit(arms, key)
  const unit = hasBegun ? inNone(drawn) : drawn
  const bytes = writeStored(storedFact({ unit }))
  const position = context.rewrites?.memory.place(key, bytes) ?? null
  const records: FreshRecord[] = [{ key, bytes, position, isUnit: true }]
  if (unit.isHeldOut) {
    const question = { bytes: NO_BYTES, position: null, isQuestion: true } as const
    for (const item of earlier.map(each => ({ ...question, key: each }))) records.push(item)
  }
  return { key, unit, records }
}

/** Keys of what was decided if the conversation was rewritten before. */
function earlierDecisions(
  { scanned, conversation, first }: ArmRequest,
  context: ConversationContext,
): readonly string[] {
  if (isNew(scanned)) return []
  const keys = [first(), leversKey(scanned, conversation, context)]
  return keys.filter(key => key !== undefined)
}

/** Whether a decision may have changed a request. That nothing is to be done is one too. */
function changesBytes(decided: StoredRewrite | null): boolean {
  return decided !== null && !hasNoLever(decided)
}

/** Treated, and compared with nothing. */
function inNone(unit: UnitArm): UnitArm {
  return { ...unit, isHeldOut: false, share: 0 }
}

/** A session, wherever it is named, so that an agent and its sub-agents are one unit. */
function unitOf(
  { scanned, conversation }: ArmRequest,
  { session }: NonNullable<RequestTerms['arms']>,
): string | undefined {
  if (session !== undefined) return sessionUnit(session)
  // A request with only its new items opens with any of them.
  const opening = scanned.continues === undefined ? `opening ${conversation}` : undefined
  return scanned.unit ?? opening
}
