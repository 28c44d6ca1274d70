import { join } from 'node:path'
import {
  NO_SESSION,
  type ResponseFacts,
  TELEMETRY_SCHEMA_VERSION,
} from '../core/telemetry/event.ts'
import { createPseudonyms, tenantFolder } from '../core/telemetry/pseudonyms.ts'
import { createRepeats, type Repeats } from '../core/telemetry/repeats.ts'
import { parseFacts } from '../core/telemetry/response-facts.ts'
import type { SessionSummary } from '../core/telemetry/summary.ts'
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
  /** Of all results, those that are written. */
  readonly sample_rate: number
  /** Events of a session that wait to be written together. */
  readonly flush_every_n: number
}

export interface TelemetryOptions {
  /** Nothing else may be in it. */
  readonly folder: string
  /** Of the installation: see `createPseudonyms`. */
  readonly key: Uint8Array
  readonly settings: TelemetrySettings
  /** Unix milliseconds. */
  now(): number
  /** From 0 to below 1, for the sample. */
  random(): number
  /** Events that were written, that found no room, and that the file system did not take. */
  onEvents(fate: EventFate, count: number): void
  /** What the file system says when it begins to fail. */
  onProblem(error: Error): void
}

export type EventFate = 'written' | 'dropped' | 'failed'

/** Writes what responses were like. Nothing that it is given ever waits for it. */
export interface Telemetry {
  /**
   * Takes what is known of a response. Where too much waits to be written already, it is dropped.
   * @param response as `writeFacts` gives it
   */
  record(tenant: string, response: string): void
  /** Ends a session that was closed by its id, so that what comes under it later begins again. */
  end(tenant: string, session: string): void
  /**
   * Writes what waits, ends sessions that were idle for too long, and looks after the files. Never
   * rejects.
   */
  upkeep(): Promise<void>
  /** Ends all sessions; resolves when everything is written. Nothing may be recorded after it. */
  close(): Promise<void>
}

/** Events that wait to be written, of all sessions: some 20 MB. */
const MAX_PENDING = 10_000
/** Sessions with a file of their own; of more, the one that was idle for the longest ends. */
const MAX_OPEN = 1_024
/** How long an event waits at most. */
const FLUSH_MS = 5_000
/** Between other work, to look at one response takes half as long again as in a row. */
const TAKEN_TOGETHER = 25
const UPKEEP_MS = 600_000

/** A response that was not measured. */
interface Arrived {
  readonly tenant: string
  readonly response: string
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
  const { folder, key, settings, now, onEvents, onProblem } = options
  const digits = randomDigits()
  const folders = new Map<string, string>()
  /** The one that was idle for the longest comes first. */
  const sessions = new Map<string, OpenSession>()
  const dirty = new Set<OpenSession>()
  let arrived: Arrived[] = []
  const together = Math.min(settings.flush_every_n, TAKEN_TOGETHER)
  /** Of `arrived`, and of all that is pending or being written. */
  let waiting = 0
  let writing: Promise<void> | null = null
  let isFailing = false

  function folderOf(tenant: string): string {
    const known = folders.get(tenant)
    if (known !== undefined) return known
    const own = join(folder, tenantFolder(key, tenant))
    folders.set(tenant, own)
    return own
  }

  function writeSummary(tenant: string, summary: SessionSummary): Promise<void> {
    return appendSummary(tenant, summary, { nowMs: now(), digits })
  }

  /** The session, moved behind all others. */
  function sessionOf(tenant: string, hash: string, atMs: number): OpenSession {
    const name = nameOf(tenant, hash)
    const known = sessions.get(name)
    sessions.delete(name)
    const session = known ?? {
      repeats: hash === NO_SESSION ? null : createRepeats(),
      file: createSessionFile(tenant, hash, settings, summary => writeSummary(tenant, summary)),
      pending: [],
      lastMs: 0,
      isEnding: false,
    }
    session.lastMs = atMs
    sessions.set(name, session)
    if (sessions.size > MAX_OPEN) endFirst()
    return session
  }

  function takeArrived(): void {
    const taken = arrived
    arrived = []
    for (const each of taken) take(each)
  }

  function take({ tenant, response, atMs }: Arrived): void {
    const facts = parseFacts(response)
    const session = sessionOf(folderOf(tenant), facts.session_hash, atMs)
    const repeat_burst = burstOf(session.repeats, facts)
    if (repeat_burst === 'retry' || !isSampled(options)) {
      waiting--
      return
    }
    const head = {
      schema_version: TELEMETRY_SCHEMA_VERSION,
      ts_ms: atMs,
      sample_rate_applied: settings.sample_rate,
      repeat_burst,
    } as const
    // The rest is JSON already, of an object with fields.
    const text = `${JSON.stringify(head).slice(0, -1)},${response.slice(1)}\n`
    session.pending.push({ event: Object.assign(facts, head), text })
    if (session.pending.length < settings.flush_every_n) return
    dirty.add(session)
    void write()
  }

  function endFirst(): void {
    const [name] = sessions.keys()
    if (name !== undefined) endNamed(name)
  }

  function endNamed(name: string): void {
    const session = sessions.get(name)
    if (session === undefined) return
    sessions.delete(name)
    session.isEnding = true
    dirty.add(session)
    void write()
  }

  /** Has the sessions that are dirty written, one after the other. */
  async function write(): Promise<void> {
    if (dirty.size > 0) writing ??= writeDirty()
    await writing
  }

  async function writeDirty(): Promise<void> {
    // What becomes dirty meanwhile comes at the end.
    for (const session of dirty) {
      dirty.delete(session)
      await writeSession(session)
    }
    writing = null
  }

  async function writeSession(session: OpenSession): Promise<void> {
    // One that comes to its end during the write is dirty again, perhaps with more.
    const { pending: lines, isEnding } = session
    session.pending = []
    let fate: EventFate = 'failed'
    try {
      await session.file.append(lines)
      fate = 'written'
      if (isEnding || session.file.isFull()) await session.file.finish()
      isFailing = false
    } catch (error) {
      fail(error as Error)
    }
    waiting -= lines.length
    if (lines.length > 0) onEvents(fate, lines.length)
  }

  function fail(error: Error): void {
    if (!isFailing) onProblem(error)
    isFailing = true
  }

  function flush(): Promise<void> {
    takeArrived()
    for (const session of sessions.values()) if (session.pending.length > 0) dirty.add(session)
    return write()
  }

  async function upkeep(): Promise<void> {
    takeArrived()
    for (const [name, { lastMs }] of [...sessions]) {
      if (lastMs <= now() - settings.idle_ms) endNamed(name)
    }
    await flush()
    try {
      await tidy(folder, settings, now(), writeSummary)
    } catch (error) {
      fail(error as Error)
    }
  }

  let tidying: Promise<void> = upkeep()
  const flushTimer = setInterval(() => void flush(), FLUSH_MS).unref()
  const upkeepTimer = setInterval(() => {
    tidying = tidying.then(upkeep)
  }, UPKEEP_MS).unref()

  return {
    record(tenant, response) {
      // A request may bring hundreds of thousands of results.
      if (waiting >= MAX_PENDING) {
        onEvents('dropped', 1)
        return
      }
      waiting++
      arrived.push({ tenant, response, atMs: now() })
      if (arrived.length >= together) takeArrived()
    },
    end(tenant, session) {
      takeArrived()
      const hash = createPseudonyms(key, tenant).session(session)
      endNamed(nameOf(folderOf(tenant), hash))
    },
    upkeep,
    async close() {
      clearInterval(flushTimer)
      clearInterval(upkeepTimer)
      await tidying
      takeArrived()
      while (sessions.size > 0) endFirst()
      await write()
    },
  }
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
  if (repeats === null) return undefined
  if (call !== undefined && repeats.isRetry(content, call)) return 'retry'
  // A sub-agent has not seen what the session has, nor the session what a sub-agent has.
  return facts.is_sidechain ? undefined : repeats.next(content, partition)
}
