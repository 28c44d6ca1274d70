import { settleBody } from '../core/dedup/session/remember.ts'
import type { Sessions } from '../core/dedup/session/shared-sessions.ts'
import type { KeepItem } from '../core/operations/operation.ts'
import { AppError } from '../errors.ts'
import type { JobResult } from '../pool/job.ts'
import type { Originals } from '../store/originals.ts'
import type { Kept } from '../store/store.ts'

/** Who makes true what an answer says. */
export interface Settlers {
  readonly originals: Pick<Originals, 'keep' | 'rely'>
  readonly tenant: string
  /** Told which bodies are durable; absent where sessions have no effect. */
  readonly sessions: Sessions | undefined
}

/** A job that has an answer. */
export type Done = JobResult & { readonly ok: true }

/**
 * Makes everything durable that an answer speaks of, and sees that all it refers to is there and stays. In that order the
 * answer may leave.
 * @returns what was kept; `null` where something about its session did not work out: then another answer
 * is to be sent, one without the session
 * @throws AppError of the store, for what the answer must have
 */
export async function settleAnswer(
  { keep, rely }: Done,
  settlers: Settlers,
): Promise<readonly Kept[] | null> {
  if (keep.length === 0 && rely.length === 0) return []
  const { originals, tenant } = settlers
  const ofSession = keep.filter(({ session }) => session !== undefined)
  const remembered = ofSession.map(item => keepForSession(item, settlers))
  const kept = await Promise.all(
    keep
      .filter(({ session }) => session === undefined)
      .map(({ bytes, media_type }) => originals.keep(tenant, { bytes, media_type })),
  )
  if ((await Promise.all(remembered)).includes(false)) return null
  // Some of it may just have been kept.
  const relied = await Promise.all(rely.map(each => isDone(originals.rely(tenant, each))))
  return relied.includes(false) ? null : kept
}

async function keepForSession(
  { bytes, media_type, session, ticket }: KeepItem,
  { originals, tenant, sessions }: Settlers,
): Promise<boolean> {
  const kept = await isDone(originals.keep(tenant, { bytes, media_type }, session))
  if (sessions !== undefined && ticket !== undefined) settleBody(sessions, ticket, kept)
  return kept
}

/** Whether it worked out; bugs are thrown on. */
async function isDone(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
