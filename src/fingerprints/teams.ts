import { AppError } from '../core/base/errors.ts'
import { LIMITS } from '../core/fingerprints/fingerprint.ts'
import type { UploadAnswer } from '../core/fingerprints/upload.ts'
import type { Store } from '../store/store.ts'
import type { FingerprintThread } from './task-thread.ts'
import type { MergedDocument, UploadBody } from './tasks.ts'
import { TeamRecords, Turns, untilWritten } from './team-records.ts'

export interface TeamsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  readonly thread: Pick<FingerprintThread, 'run'>
  /** Unix milliseconds. */
  readonly now: () => number
}

/**
 * How long a document is returned without checking whether another process has changed it, in
 * milliseconds.
 */
const MAX_AGE_MS = 30_000
/** Documents that are kept at hand, in bytes, and how many. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024
const MAX_CACHED = 256

/** A team's document: made, or being made. */
interface Cached {
  /** Uploads and withdrawals so far that this process knows of. */
  changes: number
  /** What `changes` was when its records began to be read. */
  madeAt: number
  /** `document` is `null` if all members have withdrawn. */
  made: { readonly document: MergedDocument | null; readonly until: number } | null
  making: Promise<void> | null
}

/**
 * Fingerprints that members of teams share. A team belongs to a tenant, and does not exist for
 * other tenants.
 */
export class Teams {
  readonly #thread: TeamsOptions['thread']
  readonly #now: () => number
  readonly #records: TeamRecords
  readonly #cache = new Map<string, Cached>()
  /**
   * All of a team's records are in memory at once when they are merged, so a tenant's teams take
   * turns.
   */
  readonly #merges = new Turns()

  constructor({ store, thread, now }: TeamsOptions) {
    this.#thread = thread
    this.#now = now
    this.#records = new TeamRecords(store, now)
  }

  /**
   * All members' uploads together, with what was accepted before the call.
   * @throws AppError `not_found` if there are none
   */
  async document(tenant: string, team: string): Promise<MergedDocument> {
    const cached = this.#cachedOf(tenant, team)
    const wanted = cached.changes
    const isMade = () => cached.madeAt >= wanted && (cached.made?.until ?? 0) > this.#now()
    // A document that is being made may have been begun before the last change. The next one is
    // begun after it.
    if (!isMade()) await cached.making?.catch(() => undefined)
    if (!isMade()) {
      cached.making ??= this.#merges
        .inTurn(tenant, () => this.#make(tenant, team, cached))
        .finally(() => {
          cached.making = null
        })
      await cached.making
      this.#forgetOldest()
    }
    const document = cached.made?.document ?? null
    if (document === null) throw new AppError('not_found', 'no such team is known')
    return document
  }

  /**
   * Replaces a member's earlier upload by a new one, which is durable when it resolves.
   * @param only the one member that may upload; `null`: any
   * @throws AppError `invalid_request`, `payload_too_large`, `not_found` for another than `only`,
   * and what the store and the thread fail with
   */
  async upload(
    tenant: string,
    team: string,
    body: UploadBody,
    only: string | null,
  ): Promise<UploadAnswer> {
    const own = ownBytes(body.body)
    const upload = await this.#thread.run(tenant, 'read', { ...body, body: own }, [own.buffer])
    const { member } = upload
    if (only !== null && member !== only) {
      throw new AppError('not_found', 'the key is for another member')
    }
    return untilWritten(async () => {
      const at = this.#now()
      const earlier = await this.#records.read({ tenant, team, member })
      const before = earlier && ownBytes(earlier.value)
      const task = { upload, earlier: before, now: at }
      const moved = before === null ? [] : [before.buffer]
      const { record, rows, accepted, refused } = await this.#thread.run(
        tenant,
        'admit',
        task,
        moved,
      )
      const version = earlier?.version ?? 0
      await this.#records.join({ tenant, team, member }, rows)
      const isWritten = await this.#records.write({ tenant, team, member }, record, version)
      if (!isWritten) return null
      return { team, member, accepted, refused: [...refused], expires_at: at + LIMITS.freshMs }
    }).finally(() => this.#changed(tenant, team))
  }

  /** @throws AppError `not_found` if the member has no upload */
  async withdraw(tenant: string, team: string, member: string): Promise<void> {
    await untilWritten(async times => {
      const earlier = await this.#records.read({ tenant, team, member })
      const record =
        earlier &&
        (await this.#thread.run(tenant, 'withdraw', { earlier: earlier.value, now: this.#now() }))
      if (earlier === null || record === null) {
        // If the upload is gone since the first attempt, that attempt may have withdrawn it, and
        // its answer was lost.
        if (times > 0 && earlier !== null) return true
        throw new AppError('not_found', 'no such upload is known')
      }
      const isWritten = await this.#records.write({ tenant, team, member }, record, earlier.version)
      return isWritten || null
    }).finally(() => this.#changed(tenant, team))
  }

  /** The latest used is the last. */
  #cachedOf(tenant: string, team: string): Cached {
    const key = `${tenant}\n${team}`
    const cached = this.#cache.get(key) ?? { changes: 0, madeAt: -1, made: null, making: null }
    this.#cache.delete(key)
    this.#cache.set(key, cached)
    return cached
  }

  #forgetOldest(): void {
    let bytes = 0
    let count = 0
    for (const [key, cached] of [...this.#cache].reverse()) {
      bytes += sizeOf(cached.made?.document)
      count += 1
      const isTooMuch = count > 1 && (count > MAX_CACHED || bytes > MAX_CACHED_BYTES)
      // An entry without a document must not take the place of one that has it.
      if ((isTooMuch || cached.made === null) && cached.making === null) this.#cache.delete(key)
    }
  }

  async #make(tenant: string, team: string, cached: Cached): Promise<void> {
    const { changes } = cached
    const at = this.#now()
    const found = await this.#records.all(tenant, team)
    let document: MergedDocument | null = null
    if (found !== null) {
      const task = { team, records: found, now: at }
      const buffers = found.map(({ buffer }) => buffer as ArrayBuffer)
      // Merges wait apart from uploads, so that many uploads do not delay readers.
      document = await this.#thread.run(`${tenant} merges`, 'merge', task, [...new Set(buffers)])
    }
    cached.madeAt = changes
    const until = Math.min(at + MAX_AGE_MS, document?.changesAt ?? Number.POSITIVE_INFINITY)
    cached.made = found && { document, until }
  }

  #changed(tenant: string, team: string): void {
    this.#cachedOf(tenant, team).changes += 1
    this.#forgetOldest()
  }
}

/**
 * The same bytes, with a buffer that a thread can take because nothing else reads it: copied
 * if it may be a part of one.
 */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes)
}

function sizeOf(document: MergedDocument | null | undefined): number {
  if (!document) return 0
  return document.json.length + document.msgpack.length + document.parquet.length
}
