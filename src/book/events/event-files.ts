import { join } from 'node:path'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import type { ResultRow } from '../../core/contract/result-row.ts'
import {
  isOffer,
  type ResponseFacts,
  TELEMETRY_SCHEMA_VERSION,
} from '../../core/telemetry/event.ts'
import {
  createPseudonyms,
  NO_SESSION,
  type Pseudonyms,
  tenantFolder,
} from '../../core/telemetry/pseudonyms.ts'
import { createRepeats, type Repeats } from '../../core/telemetry/repeats.ts'
import { factsOf } from '../../core/telemetry/result-row.ts'
import type { SessionSummary } from '../../core/telemetry/summary.ts'
import type { Arrival } from '../arrivals.ts'
import { randomDigits } from './layout.ts'
import { offerFacts } from './offer-facts.ts'
import {
  appendSummary,
  createSessionFile,
  type Line,
  type RotationSettings,
  type SessionFile,
} from './session-file.ts'
import { type RetentionSettings, tidy } from './upkeep.ts'

export interface EventSettings extends RotationSettings, RetentionSettings {
  /** The share of results that is written. */
  readonly sample_rate: number
  /** Events of a session that wait to be written together. */
  readonly flush_every_n: number
}

/** What a thread must know to write events. */
export interface EventsTerms {
  /** Nothing else may be in it. */
  readonly folder: string
  /** The key of the installation: see `createPseudonyms`; `null`: nothing is recorded. */
  readonly key: Uint8Array | null
  readonly settings: EventSettings
}

/** What became of events since the last time, how many wait, and why files began to fail. */
export interface EventTally {
  readonly written: number
  readonly failed: number
  readonly pending: number
  readonly problem: Error | null
}

/** What differs by time and chance. */
interface EventSources {
  /** Unix milliseconds. */
  now(): number
  /**
   * Unix milliseconds by which sessions end and files are deleted. This clock does not follow jumps
   * ahead.
   */
  steadyNow(): number
  /** From 0 to below 1, for the sample. */
  random(): number
}

/** Sessions with a file of their own; of more, the one that was idle for the longest ends. */
const MAX_OPEN = 1_024
/** How long an event waits at most, and how many do: some 20 MB. */
const FLUSH_MS = 5_000
const MAX_PENDING = 10_000
/** Tenants whose pseudonyms are at hand. */
const MAX_TENANTS = 1_000

interface TenantsOwn {
  readonly folder: string
  readonly pseudonyms: Pseudonyms
}

interface OpenSession {
  /** `null` for results of no session. */
  readonly repeats: Repeats | null
  readonly file: SessionFile
  pending: Line[]
  lastMs: number
}

/** Telemetry in files below a folder. Calls that wait for files must not overlap. */
export class EventFiles {
  readonly #terms: EventsTerms
  readonly #sources: EventSources
  readonly #digits = randomDigits()
  readonly #tenants = new BoundedMap<string, TenantsOwn>(MAX_TENANTS)
  /** The one that was idle for the longest comes first. */
  readonly #sessions = new Map<string, OpenSession>()
  /** Sessions that end with the next write. */
  #ending: OpenSession[] = []
  #pending = 0
  #flushedMs: number
  #tally = { written: 0, failed: 0, problem: null as Error | null }
  #isFailing = false
  /** Upkeep of the files that is under way. Never rejects. */
  #tidying: Promise<void> | null = null

  constructor(terms: EventsTerms, sources: EventSources) {
    this.#terms = terms
    this.#sources = sources
    this.#flushedMs = sources.steadyNow()
  }

  /** Makes the event of what arrived; `flush` writes it. */
  note(arrival: Arrival): void {
    const { key } = this.#terms
    if (key === null || arrival.kind === 'turn' || arrival.kind === 'fetch') return
    const own = this.#ownOf(arrival.tenant, key)
    const { pseudonyms, folder } = own
    if (arrival.kind === 'end') {
      this.#end(nameOf(folder, pseudonyms.session(arrival.session)))
    } else if (arrival.kind === 'offer') {
      this.#take(own, offerFacts(arrival, pseudonyms), arrival.at)
    } else {
      this.#take(own, factsOf(JSON.parse(arrival.row) as ResultRow, pseudonyms), arrival.at)
    }
  }

  /**
   * Writes sessions that have enough events or end; all of them after a while, if too many wait, or
   * if `isAll`. Never rejects.
   */
  async flush(isAll = false): Promise<void> {
    const now = this.#sources.steadyNow()
    const isDue = Math.abs(now - this.#flushedMs) >= FLUSH_MS || this.#pending >= MAX_PENDING
    if (isDue || isAll) this.#flushedMs = now
    const most = isDue || isAll ? 1 : this.#terms.settings.flush_every_n
    const full = [...this.#sessions.values()].filter(({ pending }) => pending.length >= most)
    for (const each of full) await this.#write(each, false)
    const ending = this.#ending
    this.#ending = []
    for (const each of ending) await this.#write(each, true)
  }

  /**
   * Writes what waits, ends sessions that were idle for too long, and begins to look after the
   * files, unless that is under way. Other tasks run between its steps. Never rejects.
   */
  async lookAfter(): Promise<void> {
    const { folder, settings } = this.#terms
    const now = this.#sources.steadyNow()
    for (const [name, { lastMs }] of [...this.#sessions]) {
      if (lastMs <= now - settings.idle_ms) this.#end(name)
    }
    await this.flush(true)
    this.#tidying ??= tidy(folder, settings, now, (tenant, summary) =>
      this.#writeSummary(tenant, summary),
    )
      .catch(error => this.#fail(error))
      .finally(() => {
        this.#tidying = null
      })
  }

  /** The same, and waits until it is done. */
  async settle(): Promise<void> {
    await this.lookAfter()
    await this.#tidying
  }

  /** Ends all sessions. */
  async end(): Promise<void> {
    for (const name of [...this.#sessions.keys()]) this.#end(name)
    await this.flush()
    await this.#tidying
  }

  /** What became of events since it was asked for last. */
  tally(): EventTally {
    const tally = { ...this.#tally, pending: this.#pending }
    this.#tally = { written: 0, failed: 0, problem: null }
    return tally
  }

  #ownOf(tenant: string, key: Uint8Array): TenantsOwn {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) return known
    const pseudonyms = createPseudonyms(key, tenant)
    const own = { folder: join(this.#terms.folder, tenantFolder(key, tenant)), pseudonyms }
    this.#tenants.set(tenant, own)
    return own
  }

  #writeSummary(tenant: string, summary: SessionSummary): Promise<void> {
    return appendSummary(tenant, summary, { nowMs: this.#sources.now(), digits: this.#digits })
  }

  /** The session, moved to the end of all. */
  #sessionOf(tenant: string, hash: string, atMs: number): OpenSession {
    const name = nameOf(tenant, hash)
    const session = this.#sessions.get(name) ?? {
      repeats: hash === NO_SESSION ? null : createRepeats(),
      file: createSessionFile(tenant, hash, this.#terms.settings, summary =>
        this.#writeSummary(tenant, summary),
      ),
      pending: [],
      lastMs: 0,
    }
    session.lastMs = atMs
    this.#sessions.delete(name)
    this.#sessions.set(name, session)
    if (this.#sessions.size > MAX_OPEN) this.#end(this.#sessions.keys().next().value!)
    return session
  }

  #take({ folder }: TenantsOwn, facts: ResponseFacts, atMs: number): void {
    const { sample_rate } = this.#terms.settings
    const session = this.#sessionOf(folder, facts.session_hash, atMs)
    const repeat_burst = burstOf(session.repeats, facts)
    if (repeat_burst === 'retry') return
    if (sample_rate < 1 && this.#sources.random() >= sample_rate) return
    const head = {
      schema_version: TELEMETRY_SCHEMA_VERSION,
      ts_ms: atMs,
      sample_rate_applied: sample_rate,
      repeat_burst,
    } as const
    const event = { ...head, ...facts }
    session.pending.push({ event, text: `${JSON.stringify(event)}\n` })
    this.#pending++
  }

  #end(name: string): void {
    const session = this.#sessions.get(name)
    if (session === undefined) return
    this.#sessions.delete(name)
    this.#ending.push(session)
  }

  async #write(session: OpenSession, isEnding: boolean): Promise<void> {
    const lines = session.pending
    session.pending = []
    this.#pending -= lines.length
    let fate: 'written' | 'failed' = 'failed'
    try {
      await session.file.append(lines)
      fate = 'written'
      if (isEnding || session.file.isFull()) await session.file.finish()
      this.#isFailing = false
    } catch (error) {
      this.#fail(error as Error)
    }
    this.#tally[fate] += lines.length
  }

  #fail(error: Error): void {
    if (!this.#isFailing) this.#tally.problem ??= error
    this.#isFailing = true
  }
}

function nameOf(tenantFolder: string, sessionHash: string): string {
  return `${tenantFolder} ${sessionHash}`
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
