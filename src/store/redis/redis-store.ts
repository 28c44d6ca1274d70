import { randomInt } from 'node:crypto'
import { addFields } from '../../core/base/add-fields.ts'
import type { PartSelector } from '../../core/parts/part.ts'
import { createSizes } from '../parts/call-size.ts'
import { createPartsDesk } from '../parts/parts-desk.ts'
import { isCutElsewhere, type SelectElsewhere, threadSelect } from '../parts/select-elsewhere.ts'
import type {
  Failure,
  Kept,
  PurgedTenant,
  PutItem,
  RecordKey,
  RecordWrite,
  Reference,
  Removed,
  Result,
  Store,
  StoredBody,
  StoredPart,
  StoredRecord,
  TouchItem,
  VerifyStep,
} from '../store.ts'
import { createCodec, type StoreKey } from '../values/codec.ts'
import { fail } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import {
  COUNTERS,
  type CounterName,
  type StoreCheck,
  type StoreLoad,
  type StoreStats,
} from '../values/store-figures.ts'
import { BodyReader } from './body-reader.ts'
import { BodyWriter } from './body-writer.ts'
import { checkServer } from './check-server.ts'
import { TOO_LATE } from './failures.ts'
import { DEFAULT_PREFIX, rootOf, shortName } from './layout.ts'
import type { Library } from './library.ts'
import { RedisClaims } from './record-claims.ts'
import { RedisRecords } from './records.ts'
import type { RedisServer } from './server.ts'
import { RedisJournal } from './session-journal.ts'
import { RedisRates } from './shared-rates.ts'
import { RedisUpkeep } from './upkeep.ts'

/** What the store promises and within which bounds. */
export interface StoreSettings {
  /** The start of all keys; `hvs1` if not given. */
  readonly prefix?: string
  readonly tenantMaxBytes: number
  readonly maxBodyBytes: number
  /** Life of a body whose put names none. */
  readonly ttlMs?: number
  /** How long `gone` is distinguished from `not_found`. */
  readonly tombstoneMs?: number
  /** Bodies of at least so many bytes are tried with zstd; `null` for none. */
  readonly compressFromBytes?: number | null
  /** AES-256-GCM keys: the first one writes, all of them read. None: not encrypted. */
  readonly keys?: readonly StoreKey[]
  /** Gets what an operator should know; must not throw. */
  onEvent(event: StoreEvent): void
  /** Seam for tests: the time, instead of the server's. */
  readonly clock?: () => number
  readonly sweepMs?: number
  readonly elsewhere?: SelectElsewhere
  /** Bytes of texts that come with an opened session at most. */
  readonly openBytes?: number
}

const DEFAULT_OPEN_BYTES = 256 * 1024
const MINUTE_MS = 60_000
const MAX_GENERATION = 2 ** 31
/** Calls that wait for a part of a large body. */
const MAX_PARTS = 4096
const MAX_WAIT_MS = 2_000
/** Tenants of which this process remembers that they are registered. */
const MAX_REGISTERED = 10_000
const CURSOR = /^(\d{1,9}):(\d{1,9})$/

/** The store's calls, as calls of functions inside Redis. */
export class RedisStore implements Store {
  readonly #server: RedisServer
  readonly #writer: BodyWriter
  readonly #reader: BodyReader
  readonly #records: RedisRecords
  readonly #upkeep: RedisUpkeep
  readonly claims: RedisClaims
  readonly journal: RedisJournal
  readonly rates: RedisRates
  readonly #parts: ReturnType<typeof createPartsDesk>
  readonly #prefix: string
  readonly #time: () => string
  readonly #tombstoneMs: number
  readonly #registered = new Set<string>()
  /** The server that has them. */
  #registeredAt = ''
  readonly #counters = Object.fromEntries(COUNTERS.map(name => [name, 0])) as Counters

  constructor(server: RedisServer, library: Library, options: StoreSettings) {
    const { clock } = options
    this.#server = server
    this.#prefix = options.prefix ?? DEFAULT_PREFIX
    this.#time = () => (clock === undefined ? '' : `${clock()}`)
    this.#tombstoneMs = options.tombstoneMs ?? 24 * 60 * MINUTE_MS
    const count = (name: CounterName, by = 1) => {
      this.#counters[name] += by
    }
    const common = {
      server,
      codec: createCodec({
        keys: options.keys ?? [],
        refusesPlain: true,
        compressFromBytes: options.compressFromBytes ?? null,
      }),
      time: this.#time,
      now: clock ?? Date.now,
      rootOf: (tenant: string) => this.#rootOf(tenant),
      register: (tenant: string) => this.#register(tenant),
      tenantMaxBytes: options.tenantMaxBytes,
      maxBodyBytes: options.maxBodyBytes,
      ttlMs: options.ttlMs ?? 30 * MINUTE_MS,
      tombstoneMs: this.#tombstoneMs,
      count,
      onEvent: options.onEvent,
    }
    this.#writer = new BodyWriter(common)
    this.#reader = new BodyReader(common)
    this.#records = new RedisRecords(common)
    this.claims = new RedisClaims(common, this.#records)
    // Changes are too small to be compressed.
    const codec = createCodec({
      keys: options.keys ?? [],
      refusesPlain: true,
      compressFromBytes: null,
    })
    const openBytes = options.openBytes ?? DEFAULT_OPEN_BYTES
    this.journal = new RedisJournal({ ...common, codec, openBytes })
    this.rates = new RedisRates({ ...common, library, prefix: this.#prefix })
    this.#upkeep = new RedisUpkeep({
      server,
      library,
      prefix: this.#prefix,
      time: this.#time,
      tombstoneMs: this.#tombstoneMs,
      sweepMs: options.sweepMs ?? 1_000,
      onSwept: ({ bodies }) => count('expired', bodies),
    })
    this.#parts = createPartsDesk({
      read: (reference, selector) => this.#reader.part(reference, selector),
      get: reference => this.#reader.get(reference),
      elsewhere: options.elsewhere ?? threadSelect(),
      sizes: createSizes(),
      maxCalls: MAX_PARTS,
      maxWaitMs: MAX_WAIT_MS,
    })
  }

  put(items: readonly PutItem[]): Promise<readonly Result<Kept>[]> {
    return Promise.all(items.map(item => this.#writer.put(item)))
  }

  get(reference: Reference): Promise<Result<StoredBody>> {
    return this.#reader.get(reference)
  }

  async part(reference: Reference, selector: PartSelector): Promise<Result<StoredPart>> {
    if (isCutElsewhere(selector, null)) return this.#parts.part(reference, selector)
    const answer = await this.#reader.part(reference, selector)
    return answer.ok && 'whole' in answer ? this.#parts.part(reference, selector) : answer
  }

  touch(items: readonly TouchItem[]): Promise<readonly Result<Kept>[]> {
    return Promise.all(items.map(item => this.#writer.touch(item)))
  }

  async purgeSession(tenant: string, session: string): Promise<Result<Removed>> {
    const root = this.#rootOf(tenant)
    const { connection } = this.#server
    const short = shortName(session)
    const args = [this.#time(), short, `${this.#tombstoneMs}`, `${randomInt(MAX_GENERATION)}`]
    const begun = await this.#server.call('disown_session', root, args)
    if (!begun.ok) return begun
    const [first, left, guard] = begun.reply as [number, Buffer, Buffer]
    if (String(first) === 'late') return TOO_LATE
    const purge = { name: 'disown_session', root, session: short, guard: String(guard) } as const
    this.#server.remember({ ...purge, args }, connection)
    const name = String(left)
    let bodies = first
    while (name !== '') {
      const next = [this.#time(), name, `${this.#tombstoneMs}`]
      const step = await this.#server.call('purge_session', root, next)
      if (!step.ok) return step
      const [removed, isDone] = step.reply as [number, number]
      bodies += removed
      if (isDone === 1) break
    }
    const weak = await this.#server.confirm(root, connection)
    return weak ?? { ok: true, bodies, records: 0 }
  }

  async purgeTenant(tenant: string): Promise<Result<PurgedTenant>> {
    const root = this.#rootOf(tenant)
    const { connection } = this.#server
    const args = [`${randomInt(1, MAX_GENERATION)}`]
    const begun = await this.#server.call('disown_tenant', root, args)
    if (!begun.ok) return begun
    const [generation, bodies, records] = begun.reply as [Buffer, number, number]
    if (String(generation) === 'late') return TOO_LATE
    const purge = { name: 'disown_tenant', root, session: '', guard: String(generation) } as const
    this.#server.remember({ ...purge, args }, connection)
    for (;;) {
      const step = await this.#server.call('purge_generation', root, [this.#time(), generation])
      if (!step.ok) return step
      if (Number(step.reply) === 1) break
    }
    const weak = await this.#server.confirm(root, connection)
    return weak ?? { ok: true, bodies, records, generation: String(generation) }
  }

  forgetPurged(tenant: string, generation: string): void {
    this.#server.repair.forgetPurged(this.#rootOf(tenant), generation)
  }

  readRecord(key: RecordKey): Promise<Result<StoredRecord>> {
    return this.#records.read(key)
  }

  writeRecord(write: RecordWrite): Promise<Result<{ readonly version: number }>> {
    return this.#records.write(write)
  }

  deleteRecord(key: RecordKey, ifVersion?: number): Promise<Result<object>> {
    return this.#records.delete(key, ifVersion)
  }

  prune(): Promise<Result<Removed>> {
    return this.#upkeep.prune()
  }

  /** The cursor is a tenant's rank and a body's rank among the tenant's. */
  async verify(limit: number, cursor = '0:0'): Promise<Result<VerifyStep>> {
    const at = CURSOR.exec(cursor)
    if (at === null) return fail('invalid_request', 'the cursor is not one of this store')
    if (limit < 1) return fail('invalid_request', 'limit must be at least 1')
    const rank = Number(at[1])
    const offset = Number(at[2])
    const roots = await this.#upkeep.roots(rank)
    if (!roots.ok) return roots
    const root = roots.roots[0]
    if (root === undefined) return { ok: true, checked: 0, damaged: 0, cursor: null }
    const listed = await this.#server.call('list', root, [`${offset}`, `${limit}`])
    if (!listed.ok) return listed
    const members = (listed.reply as Buffer[]).map(String)
    let damaged = 0
    for (const member of members) {
      const checked = await this.#reader.verify(root, member.slice(0, member.indexOf(':')))
      if (!checked.ok) return checked
      if (checked.isDamaged) damaged++
    }
    const next = members.length < limit ? `${rank + 1}:0` : `${rank}:${offset + limit - damaged}`
    return { ok: true, checked: members.length, damaged, cursor: next }
  }

  async stats(tenant?: string): Promise<Result<StoreStats>> {
    if (tenant !== undefined) return this.#statsOf(this.#rootOf(tenant))
    let all = { bodies: 0, records: 0, stored_bytes: 0 }
    for (let from = 0, isLast = false; !isLast; ) {
      const roots = await this.#upkeep.roots(from)
      if (!roots.ok) return roots
      for (const one of await Promise.all(roots.roots.map(root => this.#statsOf(root)))) {
        if (!one.ok) return one
        all = addFields(all, one)
      }
      from += roots.roots.length
      isLast = roots.roots.length === 0
    }
    return { ok: true, ...all, counters: { ...this.#counters } }
  }

  check(): Promise<Result<StoreCheck>> {
    return checkServer(this.#server, this.rates)
  }

  get load(): StoreLoad {
    const { isAvailable, pending, pendingBytes, refused, repair } = this.#server
    return {
      state: isAvailable ? 'open' : 'unavailable',
      pending: pending + this.#parts.waiting,
      pending_bytes: pendingBytes,
      refused: refused + this.#parts.refused,
      threads_lost: 0,
      shared: { replicas: this.rates.replicas, repair_bytes: repair.bytes, ...repair.counts },
    }
  }

  async close(): Promise<void> {
    this.#upkeep.close()
    this.journal.close()
    await this.rates.close()
    await this.#parts.close()
    await this.#server.close()
  }

  async #statsOf(root: string): Promise<Result<StoreStats>> {
    const called = await this.#server.call('stats', root, [])
    if (!called.ok) return called
    const [bodies, records, stored_bytes] = called.reply as [number, number, number]
    return { ok: true, bodies, records, stored_bytes }
  }

  #rootOf(tenant: string): string {
    return rootOf(this.#prefix, tenant)
  }

  /** Notes that a tenant has data, once for a process. */
  async #register(tenant: string): Promise<Failure | undefined> {
    const { generation } = this.#server
    if (this.#registeredAt !== generation) this.#registered.clear()
    this.#registeredAt = generation
    if (this.#registered.has(tenant)) return undefined
    const key = `${this.#prefix}:tenants`
    const args = ['ZADD', key, 'NX', '0', this.#rootOf(tenant)]
    const called = await this.#server.command(key, args)
    if (!called.ok) return called
    if (this.#registered.size >= MAX_REGISTERED) this.#registered.clear()
    this.#registered.add(tenant)
    return undefined
  }
}

type Counters = Record<CounterName, number>
