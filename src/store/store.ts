import type { FieldError } from '../core/base/errors.ts'
import type { SharedRates } from '../core/base/shared-rates.ts'
import type { TextBytes } from '../core/base/text-bytes.ts'
import type { Part, PartSelector } from '../core/parts/part.ts'
import type { SharedState } from '../core/sessions/index/session-index.ts'
import type { SessionChanges } from '../core/sessions/journal/changes.ts'
import type { StoreCheck, StoreLoad, StoreStats } from './values/store-figures.ts'

/**
 * Keeps originals, sessions and fingerprints. Nothing here rejects or throws for an expected
 * failure: a full disk, a lost thread and an unknown hash are all values.
 * `src/store/values/failure.ts` turns them into problems for clients. Times are Unix milliseconds,
 * sizes are bytes.
 *
 * A tenant's bodies do not exist for another: the look-up, its cost and the answer are those of an
 * unknown hash.
 */
export interface Store {
  /**
   * Keeps bodies; an answer comes after the commit that made them durable. Results correspond to
   * items.
   */
  put(items: readonly PutItem[]): Promise<readonly Result<Kept>[]>
  /** The body that a reference means: `not_found`, `gone`, `ambiguous`. */
  get(reference: Reference): Promise<Result<StoredBody>>
  /**
   * A part of it; `lines` and `bytes` read no more of it than they need, or all of it the first
   * time from a store that other programs may write to.
   */
  part(reference: Reference, selector: PartSelector): Promise<Result<StoredPart>>
  /**
   * Prolongs the life of bodies that were seen or referenced again, and pins those that a hint
   * needs.
   */
  touch(items: readonly TouchItem[]): Promise<readonly Result<Kept>[]>
  /** Removes a session and every body that no other session and no put without a session keeps. */
  purgeSession(tenant: string, session: string): Promise<Result<Removed>>
  /**
   * Removes everything of a tenant. It cannot be found from then on; its space is freed in steps.
   */
  purgeTenant(tenant: string): Promise<Result<PurgedTenant>>
  /**
   * Another process has purged a tenant: nothing of that generation may be written again. Absent if
   * this process has the store for itself.
   */
  forgetPurged?(tenant: string, generation: string): void

  /** A record, or `not_found`. */
  readRecord(key: RecordKey): Promise<Result<StoredRecord>>
  /** Writes a record if its version is the expected one, else `conflict`. */
  writeRecord(write: RecordWrite): Promise<Result<{ readonly version: number }>>
  /** Removes a record; `not_found` if there is none, `conflict` if its version is another. */
  deleteRecord(key: RecordKey, ifVersion?: number): Promise<Result<object>>

  /** Removes what has expired; otherwise done a little at a time. */
  prune(): Promise<Result<Removed>>
  /**
   * Reads up to `limit` bodies after `cursor` and removes damaged ones. A cursor comes from the
   * step before, and only the store knows what it means. Another one is an `invalid_request`.
   */
  verify(limit: number, cursor?: string): Promise<Result<VerifyStep>>
  stats(tenant?: string): Promise<Result<StoreStats>>
  /** Claims of records; absent if this process has the store for itself. */
  readonly claims?: RecordClaims | undefined
  /** What processes tell each other of sessions; absent if this one has the store for itself. */
  readonly journal?: SessionJournal | undefined
  /** Rates of keys that processes share; absent if this one has the store for itself. */
  readonly rates?: SharedRates | undefined
  /** Whether this version may join those that share the store; absent if it is not shared. */
  check?(): Promise<Result<StoreCheck>>
  /** What the store has refused or lost since its start; known without asking the thread. */
  readonly load: StoreLoad
  /** Waits for accepted calls, makes everything durable and closes. Calls after it fail. */
  close(): Promise<void>
}

/** Records that several processes may write at the same time, of which the first one holds. */
export interface RecordClaims {
  /** Names what the store remembers; another one may have lost claims. */
  readonly generation: string
  /** Whether some process may have decided something that it could not record yet. */
  readonly isDoubtful: boolean
  /** For how long the store has not been heard, in milliseconds; 0 while it is. */
  readonly awayMs: number
  /** Whether it answers that it takes no calls, so that to wait for it is no use. */
  readonly isRefusing: boolean
  /**
   * Writes records that are not there, all in one step. If any that is there is another one,
   * nothing is written.
   * @param claims of different keys of one tenant
   */
  claim(tenant: string, claims: readonly RecordClaim[]): Promise<Result<ClaimAnswer>>
  /**
   * Set by who claims: called if a server has lost a claim, and another process was first to write
   * that record again. Must not throw.
   */
  onReplaced: (tenant: string, key: string) => void
}

export interface RecordClaim extends Omit<RecordWrite, 'tenant' | 'ifVersion'> {
  /** The version that the caller knows to be there: it does not count as another one. */
  readonly known?: number
  /**
   * `replace`: what is there is replaced, if its version is `known` or none is given; `question`:
   * nothing is written, and whatever is there counts as another one.
   */
  readonly as?: 'replace' | 'question'
}

export interface ClaimAnswer {
  /** Whether nothing was written. */
  readonly isHeld: boolean
  /** What is there now, for each claim. */
  readonly records: readonly ClaimedRecord[]
}

/** `mine`: it was written; `unknown`: a later version has written it, or the key is missing. */
export type ClaimedRecord =
  | { readonly is: 'mine' | 'same' | 'absent' | 'unknown' }
  | { readonly is: 'other'; readonly record: StoredRecord }
  /** It may be replaced. */
  | { readonly is: 'damaged'; readonly version: number }

/**
 * What the processes that share a store tell each other of a session: how many results it had, and
 * what each of them changed.
 */
export interface SessionJournal {
  /**
   * Counts a result and gives what other processes have changed since. If this fails, the result
   * must be answered without the session. Then the session begins again for all processes.
   * `not_found` if nothing is to be counted, and nothing was before.
   */
  open(asked: OpenSession): Promise<Result<OpenedSession>>
  /**
   * Tells other processes of a change. `conflict` if another epoch has begun, `not_found` if the
   * session has ended.
   */
  append(change: AppendChange): Promise<Result<{ readonly number: number }>>
  /** Whether a turn of a session may be settled without being opened, as far as is known here. */
  isSure(session: Pick<OpenSession, 'tenant' | 'session'>): boolean
  /**
   * Counts a result and tells what it changed, in one step, if this process knows all that has
   * happened in the session; `conflict` if it does not. After a failure `restart` must be called
   * before the result is answered, because it may be counted or not.
   */
  settle(turn: SettleTurn): Promise<Result<{ readonly number: number }>>
  /**
   * The session begins again for all processes before it has another turn. Never rejects; if the
   * store does not answer, resolves once other processes know that this one is silent.
   */
  restart(session: Pick<OpenSession, 'tenant' | 'session' | 'ttlMs'>): Promise<void>
  /** Begins another epoch and another partition; `null` if the session is unknown. */
  compact(
    session: Pick<OpenSession, 'tenant' | 'session' | 'ttlMs'>,
  ): Promise<Result<{ readonly partition: number | null }>>
}

export interface OpenSession {
  readonly tenant: string
  readonly session: string
  /**
   * The results that come and are counted, in their order: of each what names the call with its
   * result, in hex digits, so that a retry is counted once. Empty text: it has no name.
   */
  readonly calls: readonly string[]
  /** What this process has of the session; `null`: nothing. */
  readonly has: { readonly epoch: number; readonly applied: number } | null
  /** How long the session lives from now on, in milliseconds. */
  readonly ttlMs: number
}

/** See `SharedState` and `SharedTurn`. */
export interface OpenedSession
  extends Pick<SharedState, 'epoch' | 'partition' | 'results' | 'openedMs'>,
    Pick<SharedState, 'from' | 'to' | 'isBroken'> {
  /**
   * The position of each of `OpenSession.calls`; 0 for one that came before the session began
   * again: it is answered without the session.
   */
  readonly sequences: readonly number[]
  /** Whether a turn may be missing, so that distances to earlier ones are not known. */
  readonly isUnsure: boolean
  readonly changes: readonly Pick<SessionChanges, 'bytes' | 'texts'>[]
  /** Texts that the changes name, by their hashes: as many as came along, the newest first. */
  readonly texts: ReadonlyMap<string, TextBytes>
}

export interface AppendChange
  extends Pick<OpenSession, 'tenant' | 'session' | 'ttlMs'>,
    Pick<SessionChanges, 'bytes' | 'texts'> {
  /** The epoch that it is of; absent: the present one. */
  readonly epoch?: number
}

/** A result that is counted and told at once; no bytes: it changed nothing. */
export interface SettleTurn extends AppendChange {
  readonly epoch: number
  /** As in `OpenSession.calls`; it has a name. */
  readonly call: string
  /** The results and the last change that this process knows. */
  readonly results: number
  readonly last: number
}

/** Names a body: 64 hex digits, or a prefix of at least 12; of at least 8 inside a session. */
export interface Reference {
  readonly tenant: string
  readonly ref: string
  readonly session?: string
}

export interface PutItem {
  readonly tenant: string
  readonly body: Uint8Array
  readonly mediaType: string
  /**
   * Sessions resolve short references, and can be purged. `ambiguous` if another body of the
   * session has the same `ref`: a reference that was sent means one body for good.
   */
  readonly session?: string
  /**
   * The shortest prefix of the hash that names the body in the session; its first 8 digits if not
   * given.
   */
  readonly ref?: string
  /** How long it is kept after this moment; an earlier, longer promise stays. */
  readonly ttlMs?: number
  /** Until then it is neither evicted nor expired: a live hint depends on it. */
  readonly pinUntil?: number
  /** Whether the buffer is transferred instead of copied; only for a view of all of its buffer. */
  readonly transfer?: boolean
  /** SHA-256 of the body, 64 hex digits, if the caller has it. */
  readonly hash?: string
  /** The body as `compressed` gives it, if the caller has done that. */
  readonly compressed?: Uint8Array
}

export interface TouchItem extends Reference {
  readonly ttlMs?: number
  readonly pinUntil?: number
}

/** What is promised about a body. */
export interface Kept {
  /** SHA-256 of the body, 64 hex digits. */
  readonly hash: string
  readonly bytes: number
  readonly expires_at: number
  /** Whether this call wrote the body; false if it was there. */
  readonly created: boolean
}

export interface StoredBody extends Omit<Kept, 'created'> {
  readonly body: Uint8Array
  readonly media_type: string
  readonly created_at: number
}

/** A part; `bytes` is the size of the whole body. */
export interface StoredPart extends Omit<StoredBody, 'body'> {
  readonly part: Part
}

/** Records are small and atomic: the state of a session, a fingerprint. */
export interface RecordKey {
  readonly tenant: string
  /** Which part of the service the record belongs to; a fixed word, never a client's. */
  readonly namespace: string
  readonly key: string
}

export interface RecordWrite extends RecordKey {
  readonly value: Uint8Array
  /** Kept for good if not given. */
  readonly ttlMs?: number
  /** The version that must be there, 0 for none; any if not given. */
  readonly ifVersion?: number
}

/** `version` differs after every write of the key, also after it was deleted and written again. */
export interface StoredRecord {
  readonly value: Uint8Array
  readonly version: number
  readonly expires_at: number | null
}

export interface Removed {
  readonly bodies: number
  readonly records: number
}

export interface PurgedTenant extends Removed {
  /** Names what was purged, for other processes; absent if this one has the store for itself. */
  readonly generation?: string
}

export interface VerifyStep {
  readonly checked: number
  readonly damaged: number
  /** For the next step; `null` at the end. */
  readonly cursor: string | null
}

export type Result<T> = ({ readonly ok: true } & T) | Failure

/** Why not. `not_found` … `invalid_request` are the client's, the rest is ours. */
export type FailureReason =
  | 'not_found'
  | 'gone'
  | 'ambiguous'
  | 'invalid_request'
  | 'conflict'
  /** The body is larger than one may be. */
  | 'too_large'
  /** The queue is full, or another process holds the file. */
  | 'busy'
  /** Live bodies, or others' files, take all the space. */
  | 'full'
  /** The tenant's share is taken by live bodies. */
  | 'quota'
  | 'read_only'
  /** The file cannot be opened; it is tried again all the time. */
  | 'unavailable'
  | 'failed'
  /** The thread died while it had this call; whether a put was kept is unknown. */
  | 'lost'
  | 'closed'

export interface Failure {
  readonly ok: false
  readonly reason: FailureReason
  readonly detail: string
  readonly errors?: readonly FieldError[]
}
