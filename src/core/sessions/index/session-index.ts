import { hash } from 'node:crypto'
import type { COUNTERS } from './layout.ts'

declare const brand: unique symbol

/** 128 bits of SHA-256 as four signed 32-bit numbers; may be sent to other threads. */
export type SessionKey = readonly [number, number, number, number] & { readonly [brand]: true }

/**
 * Names a session of a tenant in the index. Different pairs have different keys, whatever the texts
 * hold: the first length marks the end of the first text, and UTF-16 keeps lone surrogates
 * distinct, which UTF-8 would make equal.
 */
export function sessionKey(tenant: string, session: string): SessionKey {
  // The digest is read as text, because making a Buffer for it takes longer than all the rest.
  const digest = hash('sha256', Buffer.from(`${tenant.length}:${tenant}${session}`, 'utf16le'))
  const words = [word(digest, 0), word(digest, 1), word(digest, 2), word(digest, 3)]
  return words as unknown as SessionKey
}

function word(digest: string, index: number): number {
  return Number.parseInt(digest.slice(8 * index, 8 * index + 8), 16) | 0
}

/** The effects of a call on files. */
export const KINDS = ['other', 'file-read', 'file-mutate'] as const
/** How a body was delivered the first time: itself, or in terms of others. */
export const ANSWERS = ['full', 'near', 'lines'] as const

/** A body that a session has seen. Hashes are any 32 bits; 0 is "not known". */
export interface NewEntry {
  /** SHA-256 of the body, 64 lower-case hexadecimal digits. */
  readonly identity: string
  readonly kind: (typeof KINDS)[number]
  readonly toolHash: number
  readonly pathHash: number
  /** A hash of the tool_call_id. */
  readonly callHash: number
  readonly bytes: number
  readonly timeMs: number
  readonly answer: (typeof ANSWERS)[number]
  /** Sequence number of the entry that the delivery refers to; 0 if there is none. */
  readonly of: number
}

export interface Entry extends NewEntry {
  /** Position of the result in its session, from 1. */
  readonly sequence: number
  readonly partition: number
  /**
   * The first digits of the identity, as many (at least 8) as distinguish it from the session's
   * other entries.
   */
  readonly ref: string
  /** Only durable ones may be referenced. */
  readonly durable: boolean
}

/** Facts about a result when it comes in. */
export interface ResultFacts {
  readonly timeMs: number
  readonly callHash?: number
  readonly identity?: string
  /**
   * Set if the caller knows that it came before. Then it is not counted, if that was in the same
   * epoch.
   */
  readonly again?: Pick<Turn, 'sequence' | 'epoch'>
}

/** The fields that must be equal; absent ones match anything. */
export interface EntryMatch {
  readonly pathHash?: number
  readonly toolHash?: number
  readonly kind?: NewEntry['kind']
}

/** One result of a session on its way. Plain data: it may be sent to another thread. */
export interface Turn {
  readonly key: SessionKey
  /** Position of the result in its session, from 1. A retry has that of the first time. */
  readonly sequence: number
  /** Boundaries of compaction that the session passed. */
  readonly partition: number
  /**
   * Unlike `partition`, never used again: not by another session, nor by a later life of this one.
   */
  readonly epoch: number
  /** The session's place, to find it faster. */
  readonly slot: number
  /**
   * Set if this call had an answer before: a reference to the entry, or the body as in
   * `entry.answer`.
   */
  readonly answered: { readonly entry: Entry; readonly as: 'body' | 'reference' } | null
  /** Otherwise the newest durable entry with the same identity, if there is one. */
  readonly match: Entry | null
}

/** A session as the processes know it that share it, when this process needs it. */
export interface SharedState {
  /** Any positive 31-bit number that no earlier life of the session had. */
  readonly epoch: number
  readonly partition: number
  readonly results: number
  readonly openedMs: number
  readonly timeMs: number
  /**
   * The number of the last change that this process had, and that of the last change there is: at
   * most 32,767.
   */
  readonly from: number
  readonly to: number
  /** Whether changes between them are missing, so that what this process has is not true. */
  readonly isBroken: boolean
}

/** Names an entry whose body is on its way to the store; plain data. */
export interface Ticket {
  readonly slot: number
  readonly stamp: number
}

/** Where a session is. */
export interface PresentState extends Pick<Turn, 'epoch' | 'partition'> {
  /** Whether other processes share it. */
  readonly isShared: boolean
  /** See `SharedState.from`; 0 if it has no changes of others. */
  readonly applied: number
}

export type Counters = { readonly [name in (typeof COUNTERS)[number]]: number }

export interface SessionSummary extends Counters {
  readonly results: number
  readonly partition: number
  /** Entries that are not refused. */
  readonly entries: number
  readonly openedMs: number
  readonly seenMs: number
  /** Hints sent, by family. */
  readonly hints: readonly number[]
}

/**
 * The sessions' recent results, in memory that all threads share. All but `commit` take the lock of
 * the session's shard for a fraction of a microsecond and may throw `IndexBusyError` if the
 * attachment limits its wait. A session may be evicted between two calls: then a turn finds
 * nothing, and nothing is recorded for it.
 */
export interface SessionIndex {
  /**
   * The epoch and partition in which the session's next result will be. Returns null if it is
   * unknown.
   */
  present(key: SessionKey): PresentState | null
  /**
   * Makes the session what other processes know of it. What this process knows of another epoch is
   * forgotten. Returns whether the caller must apply the changes after `from`: false if another
   * thread does, or if the session was evicted meanwhile.
   */
  adopt(key: SessionKey, state: SharedState): boolean
  /**
   * Notes that the session has the change `number` of this process itself, if all before it are
   * there.
   */
  applied(key: SessionKey, change: { readonly epoch: number; readonly number: number }): void
  /**
   * Counts a result of the session, which is opened if it is unknown, and looks for its identity.
   * With its call a retry is recognised, and not counted again.
   */
  begin(key: SessionKey, result: ResultFacts): Turn
  /** The newest durable entry with this identity; of one tool if `toolHash` is given. */
  check(turn: Turn, identity: string, options?: { readonly toolHash?: number }): Entry | null
  /**
   * Records the body as pending. While the session has `lruSize` entries, the least recently used
   * leaves. Returns null if there is nothing to commit: the same call is durable already, or the
   * session was compacted or evicted.
   */
  record(turn: Turn, entry: NewEntry, options: { readonly lruSize: number }): Ticket | null
  /**
   * Notes that the turn's call is answered with a reference to `entry`, which becomes the last used
   * one. Returns false if the entry is gone: then do not send the reference.
   */
  refer(turn: Turn, entry: Entry, callHash: number): boolean
  /**
   * Commits a body after the store's answer: kept bodies may be referenced, refused ones go. Never
   * waits. Returns false if the entry is gone or was recorded again.
   */
  commit(ticket: Ticket, kept: boolean): boolean
  /** The newest first. */
  entries(key: SessionKey, options?: { readonly pending?: boolean }): Entry[]
  /** Removes the entries, pending ones too, that match in all fields. Returns their number. */
  invalidate(key: SessionKey, match: EntryMatch): number
  /**
   * The agent's context was compacted: returns the new partition, in which nothing older is found,
   * or null if the session is unknown.
   */
  compact(key: SessionKey): number | null
  /** Adds to the session's counters (whole numbers from 0). */
  count(key: SessionKey, counters: Partial<Counters>): void
  /** Counts a hint of a family (0 to 6), unless `max` were sent. Returns whether it may be sent. */
  takeHint(key: SessionKey, family: number, max: number): boolean
  summary(key: SessionKey): SessionSummary | null
  /** Forgets the session; gives its last summary. */
  close(key: SessionKey): SessionSummary | null
  /**
   * Forgets the sessions without a result since then. Returns their number. Shards whose lock is
   * taken are left for the next time.
   */
  closeIdle(beforeMs: number): number
}
