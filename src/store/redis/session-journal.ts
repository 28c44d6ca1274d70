import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import type { TextBytes } from '../../core/base/text-bytes.ts'
import type { OpenedSession, OpenSession, Result, SessionJournal, SettleTurn } from '../store.ts'
import { UnreadableError } from '../values/codec.ts'
import { fail } from '../values/failure.ts'
import { openChange, sealChange } from './change-value.ts'
import { openSmall } from './chunks.ts'
import type { Argument } from './connection.ts'
import { isAway, refusal, STRANGE, TOO_LATE } from './failures.ts'
import { readBody, shortName } from './layout.ts'
import type { RecordsOptions } from './records.ts'
import type { Reply } from './send.ts'
import { packAppend, packOpen, packSettle, WRITER_BYTES } from './session-arguments.ts'

export interface JournalOptions extends Omit<RecordsOptions, 'onEvent'> {
  /** How often a missed turn is tried to be told, in milliseconds. */
  readonly retryMs?: number
  /** Bytes of texts, as they are stored, that come with an opened session at most. */
  readonly openBytes: number
}

/** Sessions of which this process remembers that it missed a turn. */
const MAX_MISSED = 100_000
const RETRY_MS = 50
/** How often a turn tries to be counted at most, if it can be told between that it was not. */
const MAX_ASKS = 4
const LOOK_MS = 10
const MAX_EPOCH = 2 ** 31
/** Longer ago than any session was seen. */
const FOREVER_MS = 2 ** 50

/** The journal of sessions in Redis. Nothing here rejects for an expected failure. */
export class RedisJournal implements SessionJournal {
  readonly #options: JournalOptions
  /** Differs for every start of a process, which forgets its sessions. */
  readonly #writer = randomBytes(WRITER_BYTES).toString('hex')
  /** Sessions of which this process answered turns without Redis, and how to tell it. */
  readonly #missed = new BoundedMap<string, () => Promise<Result<Reply>>>(MAX_MISSED)
  #timer: NodeJS.Timeout | undefined
  #isTelling = false
  #isClosed = false

  constructor(options: JournalOptions) {
    this.#options = options
  }

  async open(asked: OpenSession): Promise<Result<OpenedSession>> {
    for (let asks = 1; ; asks++) {
      const opened = await this.#ask(asked)
      if (opened.ok || opened.reason === 'not_found' || asked.calls.length === 0) return opened
      this.#miss(asked)
      const isTold = await this.#isTold(asked)
      // A connection that broke is often back at once. Then nothing was missed.
      if (!isTold || !isAway(opened) || asks === MAX_ASKS) return opened
    }
  }

  /**
   * Waits until the server knows that a turn of the session is not counted, or until other
   * processes know that this one is silent.
   */
  async #isTold(asked: Pick<OpenSession, 'tenant' | 'session'>): Promise<boolean> {
    const { contact } = this.#options.server
    const name = this.#nameOf(asked)
    while (this.#missed.has(name)) {
      if (contact.leaseMs === 0) return false
      await sleep(Math.min(LOOK_MS, Math.ceil(contact.leaseMs)))
    }
    return true
  }

  async append(
    change: Parameters<SessionJournal['append']>[0],
  ): Promise<Result<{ readonly number: number }>> {
    const { tenant, session, epoch = 0, ttlMs } = change
    const { codec, rootOf, tenantMaxBytes: share, tombstoneMs } = this.#options
    const value = sealChange(codec, change, this.#writer, binding(rootOf(tenant), session))
    const numbers = packAppend({ epoch, ttlMs, share, tombstoneMs })
    return numberIn(await this.#call('append_change', change, [numbers, value]))
  }

  isSure(session: Pick<OpenSession, 'tenant' | 'session'>): boolean {
    const { contact, isAvailable } = this.#options.server
    return isAvailable && contact.isSure && !this.#missed.has(this.#nameOf(session))
  }

  async settle(turn: SettleTurn): Promise<Result<{ readonly number: number }>> {
    const { tenant, session, bytes } = turn
    const { codec, rootOf, tenantMaxBytes: share, tombstoneMs } = this.#options
    const place = binding(rootOf(tenant), session)
    const value = bytes.length === 0 ? '' : sealChange(codec, turn, this.#writer, place)
    const numbers = packSettle({ ...turn, ...this.#knowledge(), share, tombstoneMs })
    return numberIn(await this.#call('settle_turn', turn, [numbers, value]))
  }

  async restart(named: Pick<OpenSession, 'tenant' | 'session' | 'ttlMs'>): Promise<void> {
    this.#miss(named)
    await this.#isTold(named)
  }

  /** What this process knows of the others. */
  #knowledge() {
    const { contact, generation, isSharded } = this.#options.server
    const sureMs = Math.min(FOREVER_MS, Math.ceil(performance.now() - contact.sinceMs))
    return { sureMs, silentMs: isSharded ? -1 : contact.silentMs, fence: generation }
  }

  async compact({
    tenant,
    session,
    ttlMs,
  }: Parameters<SessionJournal['compact']>[0]): Promise<
    Result<{ readonly partition: number | null }>
  > {
    const named = { tenant, session }
    const called = await this.#call('renew_session', named, ['1', `${ttlMs}`])
    if (!called.ok) return called
    const partition = called.reply as number
    return { ok: true, partition: partition < 0 ? null : partition }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #call(
    name: 'open_session' | 'append_change' | 'settle_turn' | 'renew_session',
    { tenant, session }: { readonly tenant: string; readonly session: string },
    args: readonly Argument[],
  ): Promise<Result<Reply>> {
    const { server, rootOf, time } = this.#options
    return server.call(name, rootOf(tenant), [time(), shortName(session), ...args])
  }

  /** The changes that this process needs: its own only if it does not have them any more. */
  #read(values: readonly Buffer[], place: Uint8Array, hasOwn: boolean) {
    const { codec } = this.#options
    return values.flatMap(value => {
      try {
        const { writer, ...change } = openChange(codec, value, place)
        return hasOwn && writer === this.#writer ? [] : [change]
      } catch (error) {
        if (error instanceof UnreadableError) return [UNKNOWN]
        throw error
      }
    })
  }

  /** Texts that came along, by their hashes. What cannot be read is asked for by itself. */
  #textsIn(values: readonly Buffer[], root: string): ReadonlyMap<string, TextBytes> {
    const texts = new Map<string, TextBytes>()
    for (const value of values) {
      try {
        const body = readBody(value)
        const bytes = openSmall(this.#options.codec, body, root)
        const identity = Buffer.from(body.hash).toString('hex')
        texts.set(identity, { bytes, media_type: body.mediaType })
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error
      }
    }
    return texts
  }

  async #ask(asked: OpenSession): Promise<Result<OpenedSession>> {
    const { tenant, session, calls, has, ttlMs } = asked
    const { register, rootOf, tenantMaxBytes: share, tombstoneMs, openBytes } = this.#options
    // A turn that this process could not tell of makes the session begin again, first of all.
    if (this.#missed.has(this.#nameOf(asked))) return UNTOLD
    const unknown = await register(tenant)
    if (unknown !== undefined) return unknown
    const asks = packOpen({
      epoch: has?.epoch ?? 0,
      applied: has?.applied ?? 0,
      newEpoch: randomInt(1, MAX_EPOCH),
      ttlMs,
      ...this.#knowledge(),
      share,
      tombstoneMs,
      openBytes,
      writer: this.#writer,
      calls,
    })
    const called = await this.#call('open_session', { tenant, session }, [asks])
    if (!called.ok) return called
    const [outcome, epoch, partition, results, opened, from, to, ...more] =
      called.reply as OpenedReply
    const [isBroken, isUnsure, count, ...rest] = more
    if (String(outcome) === 'not_found') return NO_SESSION
    if (String(outcome) === 'late') return TOO_LATE
    if (String(outcome) !== 'ok') return refusal(String(outcome))
    const sequences = rest.slice(0, calls.length) as number[]
    const changes = rest.slice(calls.length, calls.length + count) as Buffer[]
    const texts = rest.slice(calls.length + count) as Buffer[]
    const numbers = [epoch, partition, results, from, to, count, ...sequences]
    if (!numbers.every(Number.isSafeInteger)) return STRANGE
    const place = binding(rootOf(tenant), session)
    const hasOwn = has?.epoch === epoch && isBroken === 0
    return {
      ok: true,
      epoch,
      partition,
      sequences,
      results,
      openedMs: Number(opened),
      from,
      to,
      isBroken: isBroken === 1,
      isUnsure: isUnsure === 1,
      changes: this.#read(changes, place, hasOwn),
      texts: this.#textsIn(texts, rootOf(tenant)),
    }
  }

  #nameOf({ tenant, session }: Pick<OpenSession, 'tenant' | 'session'>): string {
    return `${this.#options.rootOf(tenant)}${shortName(session)}`
  }

  /** The session begins again for all, as soon as Redis can be told. */
  #miss({ tenant, session, ttlMs }: Pick<OpenSession, 'tenant' | 'session' | 'ttlMs'>): void {
    this.#options.server.contact.isOwing = true
    const tell = () => this.#call('renew_session', { tenant, session }, ['0', `${ttlMs}`])
    this.#missed.set(this.#nameOf({ tenant, session }), tell)
    if (this.#timer === undefined) void this.#tell()
  }

  async #tell(): Promise<void> {
    if (this.#isTelling || this.#isClosed) return
    this.#isTelling = true
    this.#timer = undefined
    for (const [name, tell] of this.#missed) {
      const told = await tell()
      if (!told.ok && isAway(told)) break
      // Another turn may have been missed meanwhile.
      if (told.ok && this.#missed.get(name) === tell) this.#missed.delete(name)
    }
    this.#isTelling = false
    this.#options.server.contact.isOwing = this.#missed.size > 0
    const { retryMs = RETRY_MS } = this.#options
    if (this.#missed.size > 0 && !this.#isClosed)
      this.#timer = setTimeout(() => void this.#tell(), retryMs).unref()
  }
}

/**
 * Outcome, epoch, partition, results, time of opening, from, to, whether changes are missing,
 * whether turns may be, and the number of changes.
 */
type OpenedReply = [
  ...[outcome: Buffer, epoch: number, partition: number, results: number, opened: Buffer],
  ...[from: number, to: number, isBroken: number, isUnsure: number, count: number],
  ...unknown[],
]

const NO_SESSION = fail('not_found', 'no such session is known')
const UNTOLD = fail('unavailable', 'Redis does not know yet what it missed of the session')
/** A change that this version cannot read. */
const UNKNOWN = { bytes: new Uint8Array(0), texts: [] }

/** The number of a change that was added, or why it was not. */
function numberIn(called: Result<Reply>): Result<{ readonly number: number }> {
  if (!called.ok) return called
  const [outcome, number] = called.reply as [Buffer, number]
  switch (String(outcome)) {
    case 'ok':
      return { ok: true, number }
    case 'late':
      return TOO_LATE
    case 'not_found':
      return NO_SESSION
    default:
      return refusal(String(outcome))
  }
}

/** Which session: a value fits nowhere else. */
function binding(root: string, session: string): Uint8Array {
  return Buffer.from(JSON.stringify(['session', root, session]))
}
