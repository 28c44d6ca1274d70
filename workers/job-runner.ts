import { threadId } from 'node:worker_threads'
import { takeFaults } from '../src/core/base/attempt.ts'
import { freeBytes } from '../src/core/base/byte-ranges.ts'
import { AppError } from '../src/core/base/errors.ts'
import { type MediaType, readEnvelope, writeEnvelope } from '../src/core/contract/envelope.ts'
import type {
  FreshRecord,
  KeepItem,
  Report,
  SentReport,
} from '../src/core/contract/operation-result.ts'
import { MAX_TEXTS } from '../src/core/contract/result-row.ts'
import { validate } from '../src/core/contract/validate.ts'
import { createHeadMemory } from '../src/core/conversation/prefix/head-memory.ts'
import { createHistoryMemory } from '../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../src/core/conversation/rewrite/rewrite-memory.ts'
import { createTurnMemories } from '../src/core/conversation/rewrite/turn-memory.ts'
import type {
  ByteOperation,
  Operation,
  OperationContext,
} from '../src/core/operations/operation.ts'
import type { Operations } from '../src/core/operations/registry.ts'
import { attachSessions, workerOwner } from '../src/core/sessions/turn/shared-sessions.ts'
import { createTokenCounters, type SharedCounters } from '../src/core/tokens/counters.ts'
import { tiktokenIds } from '../src/runtime/tiktoken.ts'
import { Generations } from './generations.ts'
import type { BatchMessage, JobHeader, JobOutcome, WorkerSetup } from './protocol.ts'

/**
 * An outcome whose bytes are still its own: the answer's, or the request's again, and what to keep.
 */
export interface UnpackedOutcome {
  readonly outcome: JobOutcome
  readonly reports: readonly Report[]
  readonly bytes: Uint8Array | null
  readonly keep: readonly KeepItem[]
  readonly records: readonly FreshRecord[]
  readonly again: Uint8Array | null
}

/** Bytes of what proxies wrote lately that each thread keeps for itself. */
const OWN_REWRITE_BYTES = 16 * 1024 * 1024

/**
 * Runs single jobs, with everything that a thread keeps between them. Expected failures are
 * returned as values, because a custom error loses its code at the thread boundary. Anything else
 * is a bug, and is answered as one.
 */
export class JobRunner {
  readonly #operations: Operations
  readonly #setup: WorkerSetup
  readonly #counters: SharedCounters
  readonly #contexts: JobContexts

  constructor(
    operations: Operations,
    setup: WorkerSetup,
    counters = createTokenCounters(setup.vocabularies, tiktokenIds),
  ) {
    this.#operations = operations
    this.#setup = setup
    this.#counters = counters
    this.#contexts = new JobContexts(setup, counters)
  }

  /** Takes the configurations that jobs of a message may need. */
  learn({ generations }: Pick<BatchMessage, 'generations'>): void {
    if (generations !== undefined) this.#contexts.generations.learn(generations)
  }

  /** @param ahead called with keys of decisions that the job is about to make */
  run(job: JobHeader, body: Uint8Array, ahead: KeysSeen = () => {}): UnpackedOutcome {
    const unpacked = this.#run(job, body, ahead)
    const faults = takeFaults()
    return faults.length === 0
      ? unpacked
      : { ...unpacked, outcome: { ...unpacked.outcome, faults } }
  }

  #run(job: JobHeader, body: Uint8Array, ahead: KeysSeen): UnpackedOutcome {
    this.#counters.serve(job.tenant)
    const started = performance.now()
    const took = () => ({ work_us: Math.round((performance.now() - started) * 1000) })
    try {
      const operation = this.#operations[job.op]
      if (operation === undefined) throw new Error(`no operation ${job.op}`)
      return 'kind' in operation
        ? this.#runOnBytes(operation, job, { body, ahead }, took)
        : this.#runOnEnvelope(operation, job, body, took)
    } catch (error) {
      return failed(error, took)
    }
  }

  #runOnEnvelope(
    operation: Operation,
    job: JobHeader,
    body: Uint8Array,
    took: Took,
  ): UnpackedOutcome {
    // MessagePack numbers have no spelling.
    const keepsSpelling = operation.keepsSpelling === true && job.accept === 'json'
    const { limits, asked } = this.#setup
    const envelope = readEnvelope(body, job.media, limits.envelope, { keepsSpelling })
    const request = validate(operation.request, envelope)
    const sources = { sessions: asked.sessions && job.sessionless !== true }
    const lookups = job.phase === 'ask' ? (operation.lookups?.(request, sources) ?? []) : []
    if (lookups.some(lookup => lookup !== null)) {
      const outcome = { kind: 'ask', lookups, start: 0, length: 0, ...took() } as const
      return { outcome, bytes: body, ...NOTHING_ELSE }
    }
    const context = this.#contexts.of(job)
    const ran = operation.run(request, context)
    const { answer, reports, keep = [], dependencies = [], changes = [] } = ran
    const { media, bytes } = writeEnvelope(answer, job.accept)
    const isOfSession =
      dependencies.length > 0 ||
      changes.length > 0 ||
      keep.some(({ session }) => session !== undefined)
    const isOfTerms = job.terms?.redeems === true && keep.length > 0
    const again = isOfSession || isOfTerms ? body : null
    const changed = changes.length === 0 ? {} : { changes }
    const outcome = { ...done(media), dependencies, ...changed, ...took() }
    return { outcome, reports, bytes, keep, records: [], again }
  }

  #runOnBytes(
    operation: ByteOperation,
    job: JobHeader,
    { body, ahead }: { readonly body: Uint8Array; readonly ahead: KeysSeen },
    took: Took,
  ): UnpackedOutcome {
    const context = this.#contexts.of(job, ahead)
    const answer = operation.run(body, context)
    const { bytes, reports, keep, records, markers, dependencies = [] } = answer
    const outcome = { ...done(job.media), markers, dependencies, ...took() }
    return { outcome, reports, bytes: bytes ?? NO_BYTES, keep, records, again: null }
  }
}

/** The contexts in which jobs run. */
class JobContexts {
  readonly generations: Generations
  readonly #setup: WorkerSetup
  readonly #base: OperationContext
  readonly #history
  readonly #turns
  readonly #heads = createHeadMemory()
  readonly #memory
  readonly #sessions

  constructor(setup: WorkerSetup, counters: SharedCounters) {
    this.#setup = setup
    this.generations = new Generations(setup)
    this.#base = {
      counters,
      maxDepth: setup.limits.contentDepth,
      maxDecodedChars: setup.limits.decodedChars,
      keepsOriginals: true,
    }
    this.#history = createHistoryMemory(setup.conversations)
    this.#turns = createTurnMemories(setup.conversations, { free: freeBytes })
    this.#memory = attachRewriteMemory(setup.rewrites, { ownBytes: OWN_REWRITE_BYTES })
    this.#sessions =
      setup.sessions === undefined
        ? null
        : attachSessions(setup.sessions, { owner: workerOwner(threadId) })
  }

  of(
    {
      resolutions,
      terms,
      tenant,
      attempt,
      sessionless,
      recalled = {},
      generation = this.#setup.generation,
      lostGeneration,
      isPaused,
    }: JobHeader,
    ahead?: KeysSeen,
  ): OperationContext {
    const sessions = this.#sessions
    const job = {
      tenant,
      nowMs: Date.now(),
      isDetached: sessionless === true,
      isShared: this.#setup.asked.sessions,
      ...(attempt === undefined ? {} : { attempt }),
    }
    const rewrites = {
      tenant,
      memory: this.#memory,
      recalled,
      history: this.#history,
      turns: this.#turns.of(tenant),
      heads: this.#heads,
      // Processes that share a store ask for and record decisions in one step.
      ...(ahead && !this.#setup.asked.sessions && { ahead }),
    }
    const { generations } = this
    const pipeline = generations.find(generation)
    if (pipeline === null) throw new Error(`the thread does not have generation ${generation}`)
    return {
      ...this.#base,
      ...(this.#setup.hasTelemetry === true && { telemetry: true as const }),
      pipeline,
      rewrites,
      ...(isPaused && { isPaused }),
      ...(generation !== undefined && {
        generations: {
          newest: generation,
          find: (id: string) => generations.find(id),
          isLost: (id: string) => id === lostGeneration,
        },
      }),
      ...(resolutions === undefined ? {} : { resolutions }),
      ...(terms === undefined ? {} : { terms }),
      ...(terms?.reading === undefined ? {} : { reading: terms.reading }),
      ...(sessions === null ? {} : { sessions: { ...sessions, ...job } }),
    }
  }
}

/** Gets keys of decisions that a job is about to make. */
type KeysSeen = (keys: readonly string[]) => void

/** What a job has taken until now. */
type Took = () => { readonly work_us: number }

/** The end of a job, before its bytes are packed into the answer's buffer. */
function done(media: MediaType) {
  const lists = { reports: [], keep: [], records: [], markers: [], dependencies: [] }
  return { kind: 'done', media, start: 0, length: 0, ...lists } as const
}

function failed(error: unknown, took: Took): UnpackedOutcome {
  const outcome = { kind: 'failed', ...toFailure(error), ...took() } as const
  return { outcome, bytes: null, ...NOTHING_ELSE }
}

/** A job's outcome with its reports, as they leave the thread. */
export function withReports(unpacked: UnpackedOutcome, keepsTexts = false): UnpackedOutcome {
  const { outcome, reports } = unpacked
  if (outcome.kind !== 'done') return unpacked
  try {
    return {
      ...unpacked,
      outcome: { ...outcome, reports: reports.map(each => sent(each, keepsTexts)) },
    }
  } catch (error) {
    return failed(error, () => ({ work_us: outcome.work_us }))
  }
}

function sent({ row, texts, ...report }: Report, keepsTexts: boolean): SentReport {
  if (row === undefined) return report
  const told = { ...report, row: JSON.stringify(row()) }
  if (!keepsTexts || texts === undefined || report.only !== undefined) return told
  return texts.before.length + texts.after.length > MAX_TEXTS ? told : { ...told, texts }
}

const NOTHING_ELSE = { reports: [], keep: [], records: [], again: null } as const
const NO_BYTES = new Uint8Array(0)

function toFailure(error: unknown) {
  if (error instanceof AppError) return { problem: error.toProblem() }
  return {
    problem: { code: 'internal', detail: 'an unexpected error; it was logged' },
    bug: error instanceof Error ? (error.stack ?? error.message) : String(error),
  } as const
}
