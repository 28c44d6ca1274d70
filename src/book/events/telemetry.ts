import { join } from 'node:path'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import {
  isOffer,
  NO_SESSION,
  type ResponseFacts,
  TELEMETRY_SCHEMA_VERSION,
} from '../../core/telemetry/event.ts'
import { createPseudonyms, type Pseudonyms, tenantFolder } from '../../core/telemetry/pseudonyms.ts'
import { createRepeats, type Repeats } from '../../core/telemetry/repeats.ts'
import type { SessionSummary } from '../../core/telemetry/summary.ts'
import { randomDigits } from './layout.ts'
import {
  appendSummary,
  createSessionFile,
  type Line,
  type RotationSettings,
  type SessionFile,
} from './session-file.ts'
import { type RetentionSettings, tidy } from './upkeep.ts'

export interface TelemetrySettings extends RotationSettings, RetentionSettings {
  /** The share of results that is written. */
  readonly sample_rate: number
  /** Events of a session that wait to be written together. */
  readonly flush_every_n: number
}

export interface TelemetryOptions {
  /** Nothing else may be in it. */
  readonly folder: string
  /** The key of the installation: see `createPseudonyms`; `null`: nothing is recorded. */
  readonly key: Uint8Array | null
  readonly settings: TelemetrySettings
  /** Unix milliseconds. */
  now(): number
  /**
   * Unix milliseconds by which sessions end and files are deleted. This clock does not follow jumps
   * ahead.
   */
  steadyNow(): number
  /** From 0 to below 1, for the sample. */
  random(): number
  /** Counts events: written, dropped because there was no room, or failed in the file system. */
  onEvents(fate: EventFate, count: number): void
  /** The file system's error when it begins to fail. */
  onProblem(error: Error): void
}

export type EventFate = 'written' | 'dropped' | 'failed'

/** Writes properties of responses. Callers never wait for it. */
export interface Telemetry {
  /**
   * Records a response. If too much waits to be written already, the response is dropped.
   * @param factsOf makes its facts when it is written, with what represents the tenant's ids
   */
  record(tenant: string, factsOf: FactsOf): void
  /**
   * Ends a session that was closed by its id, so that later results under this id begin a new one.
   */
  end(tenant: string, session: string): void
  /**
   * Writes what waits, ends sessions that were idle for too long, and looks after the files. Never
   * rejects.
   */
  upkeep(): Promise<void>
  /**
   * Writes what waits, and then runs `work` while no file is written. Without this, a summary could
   * be written into a folder that `work` has just deleted.
   * @throws what `work` throws
   */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Ends all sessions; resolves when everything is written. Nothing may be recorded after it. */
  close(): Promise<void>
}

/** Events that wait to be written, of all sessions: some 20 MB. */
const MAX_PENDING = 10_000
/** Sessions with a file of their own; of more, the one that was idle for the longest ends. */
const MAX_OPEN = 1_024
/** How long an event waits at most. */
const FLUSH_MS = 5_000
/**
 * Responses are examined together, because one by one between other work takes half as long again.
 */
const TAKEN_TOGETHER = 25
const UPKEEP_MS = 600_000

/** Tenants whose pseudonyms are at hand. */
const MAX_TENANTS = 1_000

type FactsOf = (pseudonyms: Pseudonyms) => ResponseFacts

interface TenantsOwn {
  readonly folder: string
  readonly pseudonyms: Pseudonyms
}

/** A response that was not measured. */
interface Arrived {
  readonly tenant: string
  readonly factsOf: FactsOf
  readonly atMs: number
}

interface OpenSession {
  /** `null` for results of no session. */
  readonly repeats: Repeats | null
  readonly file: SessionFile
  pending: Line[]
  lastMs: number
  isEnding: boolean
}

/**
 * Telemetry in files below a folder: one writer for the process, with one write under way at a
 * time.
 */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  return new FileTelemetry(options)
}

class FileTelemetry implements Telemetry {
  readonly #options: TelemetryOptions
  readonly #digits = randomDigits()
  readonly #tenants = new BoundedMap<string, TenantsOwn>(MAX_TENANTS)
  /** The one that was idle for the longest comes first. */
  readonly #sessions = new Map<string, OpenSession>()
  readonly #dirty = new Set<OpenSession>()
  #arrived: Arrived[] = []
  readonly #together: number
  /** Bytes of `#arrived`, and of all that is pending or being written. */
  #waiting = 0
  #writing: Promise<void> | null = null
  #isFailing = false
  #tidying: Promise<void>
  readonly #flushTimer: NodeJS.Timeout
  readonly #upkeepTimer: NodeJS.Timeout

  constructor(options: TelemetryOptions) {
    this.#options = options
    this.#together = Math.min(options.settings.flush_every_n, TAKEN_TOGETHER)
    this.#tidying = this.#lookAfter()
    this.#flushTimer = setInterval(() => void this.#flush(), FLUSH_MS).unref()
    this.#upkeepTimer = setInterval(() => void this.upkeep(), UPKEEP_MS).unref()
  }

  record(tenant: string, factsOf: FactsOf): void {
    if (this.#options.key === null) return
    // A request may bring hundreds of thousands of results.
    if (this.#waiting >= MAX_PENDING) {
      this.#options.onEvents('dropped', 1)
      return
    }
    this.#waiting++
    this.#arrived.push({ tenant, factsOf, atMs: this.#options.now() })
    if (this.#arrived.length >= this.#together) this.#takeArrived()
  }

  end(tenant: string, session: string): void {
    if (this.#options.key === null) return
    this.#takeArrived()
    const { folder, pseudonyms } = this.#ownOf(tenant)
    this.#endNamed(nameOf(folder, pseudonyms.session(session)))
  }

  upkeep(): Promise<void> {
    this.#tidying = this.#tidying.then(() => this.#lookAfter())
    return this.#tidying
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.upkeep().then(async () => {
      while (this.#writing !== null) await this.#writing
      const running = Promise.resolve().then(work)
      this.#writing = settled(running).finally(() => {
        this.#writing = null
      })
      return { running }
    })
    this.#tidying = done.then(({ running }) => settled(running))
    return (await done).running
  }

  async #lookAfter(): Promise<void> {
    const { folder, settings } = this.#options
    const nowMs = this.#options.steadyNow()
    this.#takeArrived()
    for (const [name, { lastMs }] of [...this.#sessions]) {
      if (lastMs <= nowMs - settings.idle_ms) this.#endNamed(name)
    }
    await this.#flush()
    try {
      await tidy(folder, settings, nowMs, (tenant, summary) => this.#writeSummary(tenant, summary))
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#flushTimer)
    clearInterval(this.#upkeepTimer)
    await this.#tidying
    this.#takeArrived()
    while (this.#sessions.size > 0) this.#endFirst()
    await this.#write()
  }

  /** Needs a key. */
  #ownOf(tenant: string): TenantsOwn {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) return known
    const { folder } = this.#options
    const key = this.#options.key!
    const pseudonyms = createPseudonyms(key, tenant)
    const own = { folder: join(folder, tenantFolder(key, tenant)), pseudonyms }
    this.#tenants.set(tenant, own)
    return own
  }

  #writeSummary(tenant: string, summary: SessionSummary): Promise<void> {
    return appendSummary(tenant, summary, { nowMs: this.#options.now(), digits: this.#digits })
  }

  /** The session, moved to the end of all. */
  #sessionOf(tenant: string, hash: string, atMs: number): OpenSession {
    const name = nameOf(tenant, hash)
    const known = this.#sessions.get(name)
    this.#sessions.delete(name)
    const session = known ?? {
      repeats: hash === NO_SESSION ? null : createRepeats(),
      file: createSessionFile(tenant, hash, this.#options.settings, summary =>
        this.#writeSummary(tenant, summary),
      ),
      pending: [],
      lastMs: 0,
      isEnding: false,
    }
    session.lastMs = atMs
    this.#sessions.set(name, session)
    if (this.#sessions.size > MAX_OPEN) this.#endFirst()
    return session
  }

  #takeArrived(): void {
    const taken = this.#arrived
    this.#arrived = []
    for (const each of taken) this.#take(each)
  }

  #take({ tenant, factsOf, atMs }: Arrived): void {
    const { folder, pseudonyms } = this.#ownOf(tenant)
    const facts = factsOf(pseudonyms)
    const session = this.#sessionOf(folder, facts.session_hash, atMs)
    const repeat_burst = burstOf(session.repeats, facts)
    if (repeat_burst === 'retry' || !isSampled(this.#options)) {
      this.#waiting--
      return
    }
    const head = {
      schema_version: TELEMETRY_SCHEMA_VERSION,
      ts_ms: atMs,
      sample_rate_applied: this.#options.settings.sample_rate,
      repeat_burst,
    } as const
    const event = { ...head, ...facts }
    session.pending.push({ event, text: `${JSON.stringify(event)}\n` })
    if (session.pending.length < this.#options.settings.flush_every_n) return
    this.#dirty.add(session)
    void this.#write()
  }

  #endFirst(): void {
    const [name] = this.#sessions.keys()
    if (name !== undefined) this.#endNamed(name)
  }

  #endNamed(name: string): void {
    const session = this.#sessions.get(name)
    if (session === undefined) return
    this.#sessions.delete(name)
    session.isEnding = true
    this.#dirty.add(session)
    void this.#write()
  }

  /** Has the sessions that are dirty written, one after the other. */
  async #write(): Promise<void> {
    while (this.#dirty.size > 0 || this.#writing !== null) {
      this.#writing ??= this.#writeDirty()
      await this.#writing
    }
  }

  async #writeDirty(): Promise<void> {
    // Sessions that become dirty meanwhile are added at the end.
    for (const session of this.#dirty) {
      this.#dirty.delete(session)
      await this.#writeSession(session)
    }
    this.#writing = null
  }

  async #writeSession(session: OpenSession): Promise<void> {
    // One that comes to its end during the write is dirty again, perhaps with more.
    const { pending: lines, isEnding } = session
    session.pending = []
    let fate: EventFate = 'failed'
    try {
      await session.file.append(lines)
      fate = 'written'
      if (isEnding || session.file.isFull()) await session.file.finish()
      this.#isFailing = false
    } catch (error) {
      this.#fail(error as Error)
    }
    this.#waiting -= lines.length
    if (lines.length > 0) this.#options.onEvents(fate, lines.length)
  }

  #fail(error: Error): void {
    if (!this.#isFailing) this.#options.onProblem(error)
    this.#isFailing = true
  }

  #flush(): Promise<void> {
    this.#takeArrived()
    for (const session of this.#sessions.values()) {
      if (session.pending.length > 0) this.#dirty.add(session)
    }
    return this.#write()
  }
}

/** Resolves when the work is done, or has failed. */
async function settled(work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([work])
}

function nameOf(tenantFolder: string, sessionHash: string): string {
  return `${tenantFolder} ${sessionHash}`
}

function isSampled({ settings, random }: TelemetryOptions): boolean {
  return settings.sample_rate >= 1 || random() < settings.sample_rate
}

/** How far back the result repeats; a retry of a call is the same result, and counted once. */
function burstOf(repeats: Repeats | null, facts: ResponseFacts): number | 'retry' | undefined {
  const { content_sha_prefix: content, context_partition: partition } = facts
  const { tool_call_id_hash: call } = facts
  if (repeats === null || isOffer(facts)) return undefined
  if (call !== undefined && repeats.isRetry(content, call)) return 'retry'
  // A sub-agent has not seen the session's results, and the session has not seen the sub-agent's.
  return facts.is_sidechain ? undefined : repeats.next(content, partition)
}
