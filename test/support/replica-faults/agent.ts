import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../src/lab/bill/statistics.ts'
import { ContextLog, type MadeCall, referencesIn } from './context-log.ts'
import type { TenantPurge } from './purge-tenant.ts'
import type { Replicas } from './replicas.ts'

export const COUNTED = [
  'encodes',
  'retries',
  'references',
  'retrieves',
  'compactions',
  'closes',
  'lost',
  'purges',
  // Files that a purge had to delete.
  'purgedFiles',
  // Requests of a key with a rate that passed.
  'paced',
  // Counts of proxied conversations.
  'turns',
  'markers',
  'changedNearFaults',
] as const

/** What the agents of a run did, and what was wrong. */
export interface Findings {
  readonly counts: Record<(typeof COUNTED)[number], number>
  /** One line each. */
  readonly violations: string[]
  /** When the server was last emptied. What was written before may be gone. */
  emptiedMs: number
  /** Since when there is no fault; `null`: there is one. */
  calmSinceMs: number | null
  /** When faults began and ended, and processes were started. */
  readonly disturbances: number[]
  /** Milliseconds since the run began. */
  nowMs(): number
}

export interface AgentOptions {
  readonly session: string
  readonly tenant: string
  readonly headers: Readonly<Record<string, string>>
  /** The headers of a key of another tenant. */
  readonly foreign: Readonly<Record<string, string>>
  readonly replicas: Replicas
  readonly random: Random
  readonly findings: Findings
  /** Purges its tenant, of which it is the only agent; absent: nobody does. */
  readonly purge?: TenantPurge
  /** The files that replicas have of its tenant. */
  files?(): readonly string[]
}

const FILES = ['a.ts', 'b.ts', 'c.ts', 'd.ts']
const LINES = 50
const EDITS = 4
/** After so many calls all files have other texts. */
const CALLS_A_TIME = 24
const TRAIL = 16
/** Hints that are followed once more, later. */
const MAX_DUE = 40
/** Ids of purged texts that are asked for again, later. */
const MAX_PURGED = 40
/** How long files of a purged tenant may stay, faults included, and after what calm. */
const FILES_MS = 180_000
const FILES_CALM_MS = 20_000
/** What a replica has in memory it has written by then. */
const WRITTEN_MS = 6_000
const LOOK_MS = 250

/** A hint that was sent, with the text that it names. */
interface Due {
  readonly id: string
  readonly text: string
  /** When it was asked for. */
  readonly sentMs: number
}

/** The text of a file after some edits; no two lines of all texts of a session are the same. */
function textOf(owner: string, file: string, edits: number): string {
  const line = (i: number) =>
    `${file} ${i} ${hash('md5', `${owner} ${file} ${i < edits ? edits : 0} ${i}`)}`
  return Array.from({ length: LINES }, (_, i) => line(i)).join('\n')
}

/** One agent of a tenant. It checks all that it is sent, by its own log. */
export class Agent {
  readonly #options: AgentOptions
  readonly #log = new ContextLog()
  /** Its last calls, for whoever looks for the cause of a violation. */
  #trail: readonly string[] = []
  /** Whose texts it reads: agents of the same session name in two tenants read the same. */
  readonly #due: Due[] = []
  /** What must never be given back any more. */
  readonly #purged: Due[] = []
  #purges = 0

  constructor(options: AgentOptions) {
    this.#options = options
  }

  /** One operation, drawn at random. */
  async act(): Promise<void> {
    const { random } = this.#options
    const drawn = random(100)
    if (drawn < 3) return this.#compact()
    if (drawn < 5) return this.#close()
    if (drawn < 16) return this.#followOld()
    if (drawn < 20 && this.#options.purge !== undefined) return this.#purge()
    if (drawn < 24 && this.#purged.length > 0) return this.#askForPurged()
    return this.#read()
  }

  async #read(): Promise<void> {
    const { session, replicas, headers, random, findings } = this.#options
    const argument = FILES[random(FILES.length)]!
    const number = this.#log.next()
    // Texts of an earlier time do not come again, so that none is kept once more by chance.
    const owner = `${session} ${this.#purges} ${Math.floor(number / CALLS_A_TIME)}`
    const text = textOf(owner, argument, random(3) * EDITS)
    const sentMs = findings.nowMs()
    const call: MadeCall = { tool: 'Read', argument, text }
    const request = {
      session,
      content: text,
      tool: call.tool,
      args: { file_path: argument },
      tool_call_id: `call ${number}`,
    }
    const { status, answer, trail } = await replicas.ask('/v1/encode', headers, request)
    findings.counts.encodes++
    if (status !== 200) return this.#fault(`encode answered ${status}`)
    const { content, format } = answer as { readonly content: string; readonly format: string }
    const named = referencesIn(content)
    const mark = `${number}: ${trail}${named.length === 0 ? '' : ' refers'}`
    this.#trail = [...this.#trail, mark].slice(-TRAIL)
    for (const { kind, line, ago } of this.#log.judge(content, number))
      this.#fault(`${kind} in call ${number}: ${line}, sent ${ago.join(', ')} calls ago`)
    await this.#decode({ content, format }, text, sentMs)
    if (random(10) === 0) await this.#retry(request, number)
    findings.counts.references += named.length
    // Each hint is followed at once, and once more at some later time.
    for (const { id, line } of named.slice(0, 2)) {
      const original = this.#log.textOf(id)
      if (original === null) continue
      const due = { id, text: original, sentMs }
      await this.#follow(due, line)
      if (this.#due.length < MAX_DUE) this.#due.push(due)
    }
    this.#log.hold(call, number)
  }

  /** Sends a request once more, to any replica: it is the same call, and no other one. */
  async #retry(request: object, number: number): Promise<void> {
    const { replicas, headers, findings } = this.#options
    const { status, answer } = await replicas.ask('/v1/encode', headers, request)
    findings.counts.retries++
    if (status !== 200) return this.#fault(`a retry answered ${status}`)
    for (const { kind, line } of this.#log.judge((answer as { content: string }).content, number))
      this.#fault(`${kind} in a retry of call ${number}: ${line}`)
  }

  /** Ends the session. If that is acknowledged, no replica gives its texts any more. */
  async #close(): Promise<void> {
    const { session, replicas, headers, findings } = this.#options
    const path = `/v1/sessions/${encodeURIComponent(session)}`
    const { status } = await replicas.ask(path, headers, undefined, 'DELETE')
    if (status === 200) findings.counts.closes++
    else if (status !== 404) this.#fault(`the end of a session answered ${status}`)
    const due = this.#due.splice(0)
    this.#log.compact()
    if (status !== 200) return
    for (const { id } of due.slice(-2)) {
      const query = `?session=${encodeURIComponent(session)}`
      const found = await replicas.ask(`/v1/retrieve/${id}${query}`, headers)
      if (found.status !== 404 && found.status !== 410)
        this.#fault(`${id} of an ended session answered ${found.status}`)
    }
  }

  /** Purges the tenant. If that is acknowledged, no replica gives its texts any more. */
  async #purge(): Promise<void> {
    const { purge, findings, files = () => [] } = this.#options
    const before = files().length
    const isDone = await purge!()
    const due = this.#due.splice(0)
    this.#purges++
    this.#log.compact()
    if (!isDone) return
    findings.counts.purges++
    this.#purged.push(...due)
    this.#purged.splice(0, Math.max(0, this.#purged.length - MAX_PURGED))
    findings.counts.purgedFiles += before
    for (let i = 0; i < 2; i++) await this.#askForPurged()
    await this.#watchFiles()
  }

  /** Waits until no replica has files of the tenant any more, and sees that none come back. */
  async #watchFiles(): Promise<void> {
    const { files = () => [], findings } = this.#options
    const begunMs = findings.nowMs()
    const isDue = () => {
      const { calmSinceMs } = findings
      const now = findings.nowMs()
      const isCalm = calmSinceMs !== null && now - Math.max(begunMs, calmSinceMs) > FILES_CALM_MS
      return isCalm || now - begunMs > FILES_MS
    }
    while (files().length > 0) {
      if (isDue()) return this.#fault(`files of a purged tenant stay: ${files().join(' ')}`)
      await sleep(LOOK_MS)
    }
    await sleep(WRITTEN_MS)
    if (files().length > 0) this.#fault(`files of a purged tenant came back: ${files().join(' ')}`)
  }

  async #askForPurged(): Promise<void> {
    const { session, replicas, headers, random } = this.#options
    const gone = this.#purged[random(Math.max(1, this.#purged.length))]
    if (gone === undefined) return
    const query = `?session=${encodeURIComponent(session)}`
    for (const path of [`${gone.id}${query}`, hash('sha256', gone.text)]) {
      const { status } = await replicas.ask(`/v1/retrieve/${path}`, headers)
      if (status !== 404 && status !== 410)
        this.#fault(`${path} of a purged tenant answered ${status}`)
    }
  }

  async #decode(
    { content, format }: { readonly content: string; readonly format: string },
    text: string,
    sentMs: number,
  ): Promise<void> {
    const { session, replicas, headers, findings } = this.#options
    const { status, answer } = await replicas.ask('/v1/decode', headers, {
      content,
      format,
      session,
    })
    if (status !== 200 && sentMs <= findings.emptiedMs) findings.counts.lost++
    else if (status !== 200 || (answer as { content?: string }).content !== text)
      this.#fault(`decode answered ${status}, or another text: ${content.slice(0, 80)}`)
  }

  async #followOld(): Promise<void> {
    const { random } = this.#options
    const [due] = this.#due.splice(random(Math.max(1, this.#due.length)), 1)
    if (due !== undefined) await this.#follow(due, 'followed later')
  }

  async #follow({ id, text, sentMs }: Due, what: string): Promise<void> {
    const { session, replicas, headers, foreign, findings } = this.#options
    const path = `/v1/retrieve/${id}?session=${encodeURIComponent(session)}`
    const { status, answer } = await replicas.ask(path, headers)
    findings.counts.retrieves++
    const given = (answer as { original_content?: string }).original_content
    // Only an empty server may have forgotten it, and it says so.
    if (sentMs <= findings.emptiedMs && (status === 404 || status === 410)) findings.counts.lost++
    else if (status !== 200 || given !== text) this.#fault(`dead (${status}): ${id} ${what}`)
    const others = await replicas.ask(`/v1/retrieve/${hash('sha256', text)}`, foreign)
    if (others.status !== 404) this.#fault(`another tenant got ${others.status} for ${id}`)
  }

  async #compact(): Promise<void> {
    const { session, replicas, headers, findings } = this.#options
    const path = `/v1/sessions/${encodeURIComponent(session)}/compaction`
    const { status } = await replicas.ask(path, headers, {})
    if (status === 200) findings.counts.compactions++
    else if (status !== 404) this.#fault(`compaction answered ${status}`)
    // Acknowledged, or the session is unknown: nothing from before may be named any more.
    this.#log.compact()
  }

  #fault(what: string): void {
    const { tenant, session, replicas, findings } = this.#options
    const violation = `${tenant} ${session}: ${what}`
    findings.violations.push(violation)
    // At once, so that it is known also if the run is ended before its time.
    process.stderr.write(`${findings.nowMs()} violation: ${violation}\n`)
    for (const line of [...this.#trail, ...replicas.said()]) process.stderr.write(`    ${line}\n`)
  }
}
