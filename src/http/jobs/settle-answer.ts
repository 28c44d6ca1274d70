import { AppError, type ErrorCode } from '../../core/base/errors.ts'
import type { KeepItem } from '../../core/contract/operation-result.ts'
import { IndexBusyError } from '../../core/sessions/index/lock.ts'
import { lengthen } from '../../core/sessions/turn/long-references.ts'
import { isPresent } from '../../core/sessions/turn/open-turn.ts'
import type { Reliance } from '../../core/sessions/turn/reliance.ts'
import { type BodyTicket, lengthenBody, settleBody } from '../../core/sessions/turn/remember.ts'
import type { Sessions } from '../../core/sessions/turn/shared-sessions.ts'
import type { JobResult } from '../../pool/job.ts'
import type { Originals } from '../../store/originals.ts'
import type { Kept } from '../../store/store.ts'

/** What makes the statements of an answer true. */
export interface Settlers {
  readonly originals: Pick<Originals, 'keep' | 'rely'>
  readonly tenant: string
  /** Learns which bodies are durable; absent if sessions have no effect. */
  readonly sessions: Sessions | undefined
}

/** A job that has an answer. */
export type Done = JobResult & { readonly ok: true }

/**
 * Makes everything durable that an answer speaks of, and sees that all it refers to is there,
 * stays, and is in the agent's context. In that order the answer may leave.
 * @returns what was kept; `null` if something about its session did not work out: then another
 * answer is to be sent, one without the session
 * @throws AppError of the store, for what the answer must have
 */
export async function settleAnswer(
  { keep, rely }: Pick<Done, 'keep' | 'rely'>,
  settlers: Settlers,
): Promise<readonly Kept[] | null> {
  if (keep.length === 0 && rely.length === 0) return []
  const { sessions } = settlers
  const settle = (isTrue: boolean) => {
    if (sessions === undefined) return
    for (const { ticket } of keep) {
      if (ticket !== undefined) settleBody(sessions, ticket, isTrue)
    }
  }
  try {
    const kept = await keepAll(keep, settlers)
    // Some of it may just have been kept.
    const isTrue = kept !== null && (await isRedeemable(rely, settlers))
    // What was not delivered in this way is not to be referred to.
    settle(isTrue)
    return isTrue ? kept : null
  } catch (error) {
    settle(false)
    throw error
  }
}

/**
 * As `settleAnswer`, and `null` too if the store fails: the answer can do without what it kept.
 */
export async function settleOrNull(
  done: Done,
  settlers: Settlers,
): Promise<readonly Kept[] | null> {
  try {
    return await settleAnswer(done, settlers)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** What was kept for no session; `null` if something for one was not. */
async function keepAll(
  items: readonly KeepItem[],
  { originals, tenant, sessions }: Settlers,
): Promise<readonly Kept[] | null> {
  const alone: Promise<Kept>[] = []
  const ofSession: Promise<boolean>[] = []
  for (const { bytes, media_type, session, ref, ticket } of items) {
    const kept = originals.keep(tenant, { bytes, media_type }, session, ref)
    if (session === undefined) alone.push(kept)
    // Texts of arguments have no ticket: who refers to one finds out whether it is there.
    else if (ticket === undefined) ofSession.push(failureOf(kept).then(() => true))
    else ofSession.push(isKept(kept, ticket, sessions))
  }
  const [kept, remembered] = await Promise.all([Promise.all(alone), Promise.all(ofSession)])
  return remembered.includes(false) ? null : kept
}

/**
 * Whether all that an answer refers to can be redeemed. What cannot is forgotten, so that it is
 * kept again when it comes again.
 */
async function isRedeemable(
  rely: readonly Reliance[],
  { originals, tenant, sessions }: Settlers,
): Promise<boolean> {
  const distinct = new Map(rely.map(each => [`${each.identity} ${each.session}`, each]))
  const isThere = async (each: Reliance) => {
    const code = await failureOf(originals.rely(tenant, each))
    if (code !== null && GONE.has(code)) sessions?.bodies.retract(each.identity, each.context)
    if (code === 'ambiguous' && sessions !== undefined)
      lengthen(sessions.bodies, each.context, each.identity)
    return code === null
  }
  const relied = await Promise.all([...distinct.values()].map(isThere))
  // Not only there: a compaction or the end of the session that was answered meanwhile holds.
  return !relied.includes(false) && isInContext([...distinct.values()], tenant, sessions)
}

function isInContext(
  rely: readonly Reliance[],
  tenant: string,
  sessions: Sessions | undefined,
): boolean {
  if (sessions === undefined) return true
  const { index } = sessions
  try {
    return rely.every(({ session, context }) => isPresent(index, { tenant, session }, context))
  } catch (error) {
    // The main thread does not wait for it.
    if (error instanceof IndexBusyError) return false
    throw error
  }
}

/** Codes that say that a reference means nothing, or something else. */
const GONE: ReadonlySet<ErrorCode> = new Set(['not_found', 'gone', 'ambiguous'])

/**
 * Whether it is kept. What another body of the session keeps from its id gets a longer one the next
 * time.
 */
async function isKept(
  attempt: Promise<unknown>,
  ticket: BodyTicket,
  sessions: Sessions | undefined,
): Promise<boolean> {
  const code = await failureOf(attempt)
  if (code === 'ambiguous' && sessions !== undefined) lengthenBody(sessions, ticket)
  return code === null
}

/** The code that it failed with, `null` if it worked out; bugs are thrown on. */
async function failureOf(attempt: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await attempt
    return null
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}
