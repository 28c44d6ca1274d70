import { threadId } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { packRanges } from '../src/core/base/byte-ranges.ts'
import { AppError } from '../src/core/base/errors.ts'
import { type MediaType, readEnvelope, writeEnvelope } from '../src/core/contract/envelope.ts'
import type { FreshRecord, KeepItem } from '../src/core/contract/operation-result.ts'
import type { Report, SentReport } from '../src/core/contract/report.ts'
import { validate } from '../src/core/contract/validate.ts'
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
import { createPseudonyms, type Pseudonyms } from '../src/core/telemetry/pseudonyms.ts'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import type { Heap } from './heap.ts'
import type { BatchMessage, BatchResult, JobHeader, Outcome, WorkerSetup } from './protocol.ts'

/**
 * An outcome whose bytes are still its own: the answer's, or the request's again, and what to keep.
 */
interface Loose {
  readonly outcome: Outcome
  readonly reports: readonly Report[]
  readonly bytes: Uint8Array | null
  readonly keep: readonly KeepItem[]
  readonly records: readonly FreshRecord[]
  readonly again: Uint8Array | null
}

/** Of what proxies have written lately, at hand in each thread. */
const OWN_REWRITE_BYTES = 16 * 1024 * 1024

/**
 * The function that a worker thread runs for each batch. Expected failures come back as values,
 * because a custom error loses its code at the thread boundary; anything else is a bug, and
 * answered as one.
 */
export function createRunner(
  operations: Operations,
  setup: WorkerSetup,
  { hasGrown }: Pick<Heap, 'hasGrown'> = { hasGrown: () => false },
): (message: BatchMessage) => BatchResult {
  const counters = createTokenCounters(setup.vocabularies)
  const base: OperationContext = {
    counters,
    maxDepth: setup.limits.contentDepth,
    maxDecodedChars: setup.limits.decodedChars,
    pipeline: setup.pipeline,
    keepsOriginals: true,
  }
  const history = createHistoryMemory(setup.conversations)
  const turns = createTurnMemories(setup.conversations)
  const progress = new Int32Array(setup.progress)
  const memory = attachRewriteMemory(setup.rewrites, { ownBytes: OWN_REWRITE_BYTES })
  const sessions =
    setup.sessions === undefined
      ? null
      : attachSessions(setup.sessions, { owner: workerOwner(threadId) })

  const pseudonyms = new Map<string, Pseudonyms>()

  /** What stands for a tenant's ids in telemetry. */
  function telemetryOf(tenant: string): Pick<OperationContext, 'telemetry'> {
    if (setup.telemetryKey === undefined) return {}
    const telemetry = pseudonyms.get(tenant) ?? createPseudonyms(setup.telemetryKey, tenant)
    pseudonyms.set(tenant, telemetry)
    return { telemetry }
  }

  /** The context of one job. */
  function contextOf({
    resolutions,
    terms,
    tenant,
    attempt,
    sessionless,
    recalled = {},
  }: JobHeader): OperationContext {
    const job = {
      tenant,
      nowMs: Date.now(),
      isDetached: sessionless === true,
      ...(attempt === undefined ? {} : { attempt }),
    }
    return {
      ...base,
      ...telemetryOf(tenant),
      rewrites: { tenant, memory, recalled, history, turns: turns.of(tenant) },
      ...(resolutions === undefined ? {} : { resolutions }),
      ...(terms === undefined ? {} : { terms }),
      ...(sessions === null ? {} : { sessions: { ...sessions, ...job } }),
    }
  }

  function runJob(job: JobHeader, body: Uint8Array): Loose {
    counters.serve(job.tenant)
    const started = performance.now()
    const took = () => ({ work_us: Math.round((performance.now() - started) * 1000) })
    try {
      const operation = operations[job.op]
      if (operation === undefined) throw new Error(`no operation ${job.op}`)
      return 'kind' in operation
        ? runOnBytes(operation, job, body, took)
        : runOnEnvelope(operation, job, body, took)
    } catch (error) {
      return failed(error, took)
    }
  }

  function runOnEnvelope(
    operation: Operation,
    job: JobHeader,
    body: Uint8Array,
    took: Took,
  ): Loose {
    // MessagePack has no spellings.
    const keepsSpelling = operation.keepsSpelling === true && job.accept === 'json'
    const envelope = readEnvelope(body, job.media, setup.limits.envelope, { keepsSpelling })
    const request = validate(operation.request, envelope)
    const lookups = job.phase === 'ask' ? (operation.lookups?.(request, setup.asked) ?? []) : []
    if (lookups.some(lookup => lookup !== null)) {
      const outcome = { kind: 'ask', lookups, start: 0, length: 0, ...took() } as const
      return { outcome, bytes: body, ...NOTHING_ELSE }
    }
    const { answer, reports, keep = [], dependencies = [] } = operation.run(request, contextOf(job))
    const { media, bytes } = writeEnvelope(answer, job.accept)
    const isOfSession = dependencies.length > 0 || keep.some(({ session }) => session !== undefined)
    const isOfTerms = job.terms?.redeems === true && keep.length > 0
    const again = isOfSession || isOfTerms ? body : null
    const outcome = { ...done(media), dependencies, ...took() }
    return { outcome, reports, bytes, keep, records: [], again }
  }

  function runOnBytes(
    operation: ByteOperation,
    job: JobHeader,
    body: Uint8Array,
    took: Took,
  ): Loose {
    const { bytes, reports, keep, records, markers } = operation.run(body, contextOf(job))
    const outcome = { ...done(job.media), markers, ...took() }
    return { outcome, reports, bytes: bytes ?? NO_BYTES, keep, records, again: null }
  }

  return message => {
    const bodies = new Uint8Array(message.body)
    const loose = message.jobs
      .map((job, index) => {
        Atomics.store(progress, message.slot, index)
        return runJob(job, bodies.subarray(job.start, job.start + job.length))
      })
      .map(withReports)
    const { body, starts } = packRanges(
      loose.flatMap(({ bytes, keep, records, again }) => {
        return [bytes, ...[...keep, ...records].map(each => each.bytes), again]
      }),
    )
    let next = 0
    const placed = <T extends { readonly bytes: Uint8Array }>({ bytes, ...item }: T) => {
      return { ...item, start: starts[next++] as number, length: bytes.length }
    }
    const outcomes = loose.map(({ outcome, bytes, keep, records, again }): Outcome => {
      const start = starts[next++] as number
      const ranges = { keep: keep.map(placed), records: records.map(placed) }
      const againAt = starts[next++] as number
      if (bytes === null) return outcome
      const whole = { ...outcome, start, length: bytes.length }
      if (whole.kind !== 'done') return whole
      const body = again === null ? {} : { again: { start: againAt, length: again.length } }
      return { ...whole, ...ranges, ...body }
    })
    return transferring({ outcomes, body, ...(hasGrown() ? { grownThread: threadId } : {}) })
  }
}

/** Tells what a job took until now. */
type Took = () => { readonly work_us: number }

/** The end of a job before its bytes have their place. */
function done(media: MediaType) {
  const lists = { reports: [], keep: [], records: [], markers: [], dependencies: [] }
  return { kind: 'done', media, start: 0, length: 0, ...lists } as const
}

function failed(error: unknown, took: Took): Loose {
  const outcome = { kind: 'failed', ...toFailure(error), ...took() } as const
  return { outcome, bytes: null, ...NOTHING_ELSE }
}

/** A job's outcome with its reports, as they leave the thread. */
function withReports(loose: Loose): Loose {
  const { outcome, reports } = loose
  if (outcome.kind !== 'done') return loose
  try {
    return { ...loose, outcome: { ...outcome, reports: reports.map(sent) } }
  } catch (error) {
    return failed(error, () => ({ work_us: outcome.work_us }))
  }
}

function sent({ response, ...report }: Report): SentReport {
  return response === undefined ? report : { ...report, response: response() }
}

const NOTHING_ELSE = { reports: [], keep: [], records: [], again: null } as const
const NO_BYTES = new Uint8Array(0)

/** Marks the result so that its buffer is moved, not copied. */
function transferring(result: BatchResult): BatchResult {
  return move({
    get [transferableSymbol]() {
      return result.body
    },
    get [valueSymbol]() {
      return result
    },
  }) as unknown as BatchResult
}

function toFailure(error: unknown) {
  if (error instanceof AppError) return { problem: error.toProblem() }
  return {
    problem: { code: 'internal', detail: 'an unexpected error; it was logged' },
    bug: error instanceof Error ? (error.stack ?? error.message) : String(error),
  } as const
}
