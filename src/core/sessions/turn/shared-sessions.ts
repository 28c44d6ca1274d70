import { type AttachOptions, attachIndex } from '../index/attach.ts'
import { createIndexMemory, type IndexSize } from '../index/layout.ts'
import { releaseOwner } from '../index/owners.ts'
import type { SessionIndex, Turn } from '../index/session-index.ts'
import { attachBodyMemory, type BodyMemory } from '../lines/body-memory.ts'
import { createBodyMemory } from '../lines/memory-layout.ts'

/** The recent results of all sessions: two shared buffers of fixed size, used by every thread. */
export interface SharedSessions {
  readonly index: SharedArrayBuffer
  readonly bodies: SharedArrayBuffer
}

/** Both as one thread uses them. */
export interface Sessions {
  readonly index: SessionIndex
  readonly bodies: BodyMemory
}

/** @param bodyBytes size of the body memory */
export function createSharedSessions(
  size: Omit<IndexSize, 'shards'>,
  bodyBytes: number,
): SharedSessions {
  return { index: createIndexMemory(size), bodies: createBodyMemory({ bytes: bodyBytes }) }
}

/** The number of the main thread. */
export const MAIN_OWNER = 1

/** The number of a worker thread. */
export function workerOwner(threadId: number): number {
  return MAIN_OWNER + 1 + threadId
}

/** Frees what a worker thread held that has ended. */
export function releaseThread({ index }: SharedSessions, threadId: number): void {
  releaseOwner(index, workerOwner(threadId))
}

/** @param options.owner `MAIN_OWNER`, or the result of `workerOwner` */
export function attachSessions(
  { index, bodies }: SharedSessions,
  options: AttachOptions,
): Sessions {
  return { index: attachIndex(index, options), bodies: attachBodyMemory(bodies) }
}

/** A turn that was counted when its call came. */
export interface CountedTurn extends Pick<Turn, 'sequence' | 'epoch'> {
  /** Whether turns may be missing, so that distances to earlier ones are not known. */
  readonly isUnsure?: boolean
}

/** The data that L0 needs. */
export interface SessionContext extends Sessions {
  readonly tenant: string
  /** Unix milliseconds. It distinguishes idle sessions from others. Answers do not depend on it. */
  readonly nowMs: number
  /** Names the job, so that one which runs again after a lost thread is known. */
  readonly attempt?: string
  /**
   * Reads nothing from the session and leaves nothing there, because a dependency could not be
   * kept.
   */
  readonly isDetached?: boolean
  /** Whether other processes have these sessions too: see `inSharedSession`. */
  readonly isShared?: boolean
  /** The result's turn, if it was counted when its call came; absent: it is counted now. */
  readonly counted?: CountedTurn
}
