import { AppError, type ErrorCode } from '../../core/base/errors.ts'
import type { KeepItem } from '../../core/contract/operation-result.ts'
import { IndexBusyError } from '../../core/sessions/index/lock.ts'
import type { SessionChanges } from '../../core/sessions/journal/changes.ts'
import type { Dependency } from '../../core/sessions/turn/call-memory.ts'
import { lengthen } from '../../core/sessions/turn/long-references.ts'
import { isPresent } from '../../core/sessions/turn/open-turn.ts'
import { type BodyTicket, commitBody, lengthenBody } from '../../core/sessions/turn/remember.ts'
import type { Sessions } from '../../core/sessions/turn/shared-sessions.ts'
import type { Originals } from '../originals.ts'
import type { SharedTurns } from '../sharing/shared-turns.ts'
import type { Kept } from '../store.ts'

/** What the commit of an answer needs. */
export interface CommitContext {
  readonly originals: Pick<Originals, 'keep' | 'pinDependency'>
  readonly tenant: string
  /** Learns which bodies are durable; absent if sessions have no effect. */
  readonly sessions: Sessions | undefined
  /** Present if other processes share the sessions. */
  readonly sharing?: Pick<SharedTurns, 'tell' | 'hasMoved'> | undefined
}

/** What an answer keeps, and what it depends on. */
export interface Answered {
  readonly keep: readonly KeepItem[]
  readonly dependencies: readonly Dependency[]
  /** What it changed in sessions that other processes share; absent: nothing. */
  readonly changes?: readonly SessionChanges[]
}

/** An answer that may leave now, unless `kept` is `null`. */
export interface Prepared {
  /** `null` if a part of its session failed: then another answer is sent, without the session. */
  readonly kept: readonly Kept[] | null
  /** From now on its bodies may be referred to if it has left, and never if it has not. */
  commit(hasLeft: boolean): void
}

/**
 * Makes every text durable that an answer keeps. Then checks that the answer's dependencies can be
 * retrieved, stay kept, and are in the agent's context. After that the answer may leave.
 * @throws AppError of the store, for texts without which the answer cannot be sent
 */
export async function prepareAnswer(
  { keep, dependencies, changes = [] }: Answered,
  context: CommitContext,
): Promise<Prepared> {
  const { sessions, sharing, tenant } = context
  const tell = async () => (await sharing?.tell(changes)) !== false
  const commit = (isTrue: boolean) => {
    if (sessions === undefined) return
    for (const { ticket } of keep) {
      if (ticket !== undefined) commitBody(sessions, ticket, isTrue)
    }
  }
  if (keep.length === 0 && dependencies.length === 0) {
    // Nothing in the answer depends on what others know.
    await tell()
    return sharing?.hasMoved === true ? { kept: null, commit: () => {} } : { kept: [], commit }
  }
  try {
    // Others check whether a body is there before they refer to it, so they may be told at once.
    // What was there before is looked up with the same calls, what is kept now after them.
    const [later, now] = partition(dependencies, each => keep.some(item => mayBe(each, item)))
    const [kept, isTold, areThere] = await Promise.all([
      keepAll(keep, context),
      tell(),
      areRetrievable(now, context),
    ])
    const isTrue = kept !== null && isTold && areThere && (await areRetrievable(later, context))
    // The context is checked last: a compaction or an end of the session may have come meanwhile.
    if (isTrue && isInContext(dependencies, tenant, sessions)) return { kept, commit }
    // If the answer does not leave, its bodies must not be referred to.
    commit(false)
    return { kept: null, commit: () => {} }
  } catch (error) {
    commit(false)
    throw error
  }
}

/**
 * The same for an answer that leaves right after.
 * @returns what was kept, or `null` if a part of its session failed: then the caller sends another
 * answer, without the session
 * @throws AppError as `prepareAnswer`
 */
export async function commitAnswer(
  answer: Answered,
  context: CommitContext,
): Promise<readonly Kept[] | null> {
  const { kept, commit } = await prepareAnswer(answer, context)
  commit(kept !== null)
  return kept
}

/** Like `commitAnswer`, but also returns `null` if the store fails. */
export async function commitOrNull(
  done: Answered,
  context: CommitContext,
): Promise<readonly Kept[] | null> {
  try {
    return await commitAnswer(done, context)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** Returns what was kept for no session, or `null` if a text of a session could not be kept. */
async function keepAll(
  items: readonly KeepItem[],
  { originals, tenant, sessions }: CommitContext,
): Promise<readonly Kept[] | null> {
  const alone: Promise<Kept>[] = []
  const ofSession: Promise<boolean>[] = []
  for (const { session, ref, ticket, ...text } of items) {
    const known = ticket === undefined ? text : { ...text, hash: ticket.identity }
    const kept = originals.keep(tenant, known, session, ref)
    if (session === undefined) alone.push(kept)
    // Texts of arguments have no ticket: an answer that refers to one checks whether it is there.
    else if (ticket === undefined) ofSession.push(failureOf(kept).then(() => true))
    else ofSession.push(isKept(kept, ticket, sessions))
  }
  const [kept, remembered] = await Promise.all([Promise.all(alone), Promise.all(ofSession)])
  return remembered.includes(false) ? null : kept
}

/**
 * Whether all dependencies of an answer can be retrieved. A body that cannot is forgotten, so that
 * it is kept again when it comes again.
 */
async function areRetrievable(
  dependencies: readonly Dependency[],
  { originals, tenant, sessions }: CommitContext,
): Promise<boolean> {
  const distinct = new Map(dependencies.map(each => [`${each.identity} ${each.session}`, each]))
  const isThere = async (each: Dependency) => {
    const code = await failureOf(originals.pinDependency(tenant, each))
    if (code !== null && GONE.has(code)) sessions?.bodies.retract(each.identity, each.context)
    if (code === 'ambiguous' && sessions !== undefined)
      lengthen(sessions.bodies, each.context, each.identity)
    return code === null
  }
  const areThere = await Promise.all([...distinct.values()].map(isThere))
  return !areThere.includes(false)
}

/** Whether a dependency may be on a text that the same answer keeps. */
function mayBe({ identity }: Dependency, { session, ref = '', ticket }: KeepItem): boolean {
  if (session === undefined) return false
  return ticket === undefined ? identity.startsWith(ref) : ticket.identity === identity
}

/** Those that a test is true of, and the others. */
function partition<T>(all: readonly T[], test: (each: T) => boolean): readonly [T[], T[]] {
  return [all.filter(test), all.filter(each => !test(each))]
}

function isInContext(
  dependencies: readonly Dependency[],
  tenant: string,
  sessions: Sessions | undefined,
): boolean {
  if (sessions === undefined) return true
  const { index } = sessions
  try {
    return dependencies.every(({ session, context }) =>
      isPresent(index, { tenant, session }, context),
    )
  } catch (error) {
    // The main thread does not wait for the lock.
    if (error instanceof IndexBusyError) return false
    throw error
  }
}

/** Codes for a reference that represents no body, or another one. */
const GONE: ReadonlySet<ErrorCode> = new Set(['not_found', 'gone', 'ambiguous'])

/** Whether a body is kept. If another body of the session has its id, it gets a longer one. */
async function isKept(
  attempt: Promise<unknown>,
  ticket: BodyTicket,
  sessions: Sessions | undefined,
): Promise<boolean> {
  const code = await failureOf(attempt)
  if (code === 'ambiguous' && sessions !== undefined) lengthenBody(sessions, ticket)
  return code === null
}

/** Returns the code of a failure, or `null` if there was none. Bugs are thrown on. */
async function failureOf(attempt: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await attempt
    return null
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}
