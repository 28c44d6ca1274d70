import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { Operation, OperationContext } from '../src/core/operations/operation.ts'
import { readEnvelope, writeEnvelope } from '../src/core/requests/envelope.ts'
import { validate } from '../src/core/requests/validate.ts'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { packRanges } from '../src/core/transport/ranges.ts'
import type { TextBytes } from '../src/core/transport/text-bytes.ts'
import { AppError } from '../src/errors.ts'
import type { BatchMessage, BatchResult, JobHeader, Outcome, WorkerSetup } from './protocol.ts'

/** An outcome whose bytes are still its own: the answer's, or the request's again, and what to keep. */
interface Loose {
  readonly outcome: Outcome
  readonly bytes: Uint8Array | null
  readonly keep: readonly TextBytes[]
}

/**
 * The function that a worker thread runs for each batch. Expected failures come back as values, because
 * a custom error loses its code at the thread boundary; anything else is a bug, and answered as one.
 */
export function createRunner(
  operations: Readonly<Record<string, Operation>>,
  setup: WorkerSetup,
): (message: BatchMessage) => BatchResult {
  const base: OperationContext = {
    counters: createTokenCounters(setup.vocabularies),
    maxDepth: setup.limits.contentDepth,
    maxDecodedChars: setup.limits.decodedChars,
    pipeline: setup.pipeline,
    keepsOriginals: true,
  }
  const progress = new Int32Array(setup.progress)

  function runJob(job: JobHeader, body: Uint8Array): Loose {
    const started = performance.now()
    const took = () => ({ work_us: Math.round((performance.now() - started) * 1000) })
    try {
      const operation = operations[job.op]
      if (operation === undefined) throw new Error(`no operation ${job.op}`)
      const envelope = readEnvelope(body, job.media, setup.limits.envelope)
      const request = validate(operation.request, envelope)
      const facts = job.phase === 'ask' ? (operation.facts?.(request, setup.asked) ?? []) : []
      if (facts.some(fact => fact !== null)) {
        const outcome = { kind: 'ask', facts, start: 0, length: 0, ...took() } as const
        return { outcome, bytes: body, keep: [] }
      }
      const { resolutions } = job
      const context = resolutions === undefined ? base : { ...base, resolutions }
      const { answer, reports, keep = [] } = operation.run(request, context)
      const { media, bytes } = writeEnvelope(answer, job.accept)
      const done = {
        kind: 'done',
        media,
        start: 0,
        length: 0,
        reports,
        keep: [],
        ...took(),
      } as const
      return { outcome: done, bytes, keep }
    } catch (error) {
      return { outcome: { kind: 'failed', ...toFailure(error), ...took() }, bytes: null, keep: [] }
    }
  }

  return message => {
    const bodies = new Uint8Array(message.body)
    const loose = message.jobs.map((job, index) => {
      Atomics.store(progress, message.slot, index)
      return runJob(job, bodies.subarray(job.start, job.start + job.length))
    })
    const { body, starts } = packRanges(
      loose.flatMap(({ bytes, keep }) => [bytes, ...keep.map(kept => kept.bytes)]),
    )
    let next = 0
    const outcomes = loose.map(({ outcome, bytes, keep }): Outcome => {
      const start = starts[next++] as number
      const ranges = keep.map(({ bytes: { length }, media_type }) => {
        return { start: starts[next++] as number, length, media_type }
      })
      if (bytes === null) return outcome
      const placed = { ...outcome, start, length: bytes.length }
      return placed.kind === 'done' ? { ...placed, keep: ranges } : placed
    })
    return transferring({ outcomes, body })
  }
}

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
