import { attempt } from '../base/attempt.ts'
import { AppError, type ErrorExtras } from '../base/errors.ts'
import {
  type BatchAnswer,
  type BatchRequest,
  batchAnswer,
  batchRequest,
} from '../contract/batch.ts'
import type { KeepItem, Report } from '../contract/operation-result.ts'
import { problemBody } from '../contract/problem.ts'
import { validate } from '../contract/validate.ts'
import type { SessionChanges } from '../sessions/journal/changes.ts'
import type { Dependency } from '../sessions/turn/call-memory.ts'
import type { Operation, OperationContext } from './operation.ts'

/**
 * `POST /v1/batch`: runs jobs of the given operations in order, each with its own success or
 * problem. Jobs of one session see each other's effects, because they run one after the other in
 * one thread.
 */
export function batchOperation(
  offered: readonly Operation[],
): Operation<BatchRequest, BatchAnswer> {
  const byName = new Map(offered.map(operation => [operation.name, operation]))

  /**
   * @throws AppError `invalid_request` if the job names no known operation, or breaks its schema.
   */
  function read(job: Record<string, unknown>): { operation: Operation; request: unknown } {
    const { op, ...fields } = job
    const operation = typeof op === 'string' ? byName.get(op) : undefined
    if (operation === undefined) {
      throw invalid('op', `expected one of ${[...byName.keys()].join(', ')}`)
    }
    return { operation, request: validate(operation.request, fields) }
  }

  function run(job: Record<string, unknown>, context: OperationContext, collected: Collected) {
    const { operation, request } = read(job)
    const done = operation.run(request, context)
    const { answer, reports, keep = [], dependencies = [], changes = [] } = done
    for (const item of reports) collected.reports.push(item)
    for (const item of keep) collected.keep.push(item)
    for (const item of dependencies) collected.dependencies.push(item)
    for (const item of changes) collected.changes.push(item)
    return answer as Record<string, unknown>
  }

  return {
    name: 'batch',
    request: batchRequest,
    answer: batchAnswer,
    lookups: ({ jobs }, asked) =>
      jobs.map(job =>
        settle(
          () => {
            const { operation, request } = read(job)
            return operation.lookups?.(request, asked)[0] ?? null
          },
          () => null,
          () => null,
        ),
      ),
    run({ jobs }, context) {
      const collected: Collected = { reports: [], keep: [], dependencies: [], changes: [] }
      // The decoded size is bounded for all jobs of the batch together.
      let left = context.maxDecodedChars
      const results = jobs.map((job, index) =>
        settle(
          () => {
            const answer = run(job, { ...forJob(context, index), maxDecodedChars: left }, collected)
            if (job['op'] === 'decode') left -= String(answer['content']).length
            return { ok: true, ...answer }
          },
          error => ({ ok: false, problem: briefProblem(error) }),
          () => ({ ok: false, problem: INTERNAL }),
        ),
      )
      return { answer: { results }, ...collected }
    },
  }
}

/** The results of the jobs besides their answers. */
interface Collected {
  readonly reports: Report[]
  readonly keep: KeepItem[]
  readonly dependencies: Dependency[]
  readonly changes: SessionChanges[]
}

/** The result of a job, or what is made of an expected failure, or of a bug, which is logged. */
function settle<T, U, V>(
  run: () => T,
  refused: (error: AppError) => U,
  failed: () => V,
): T | U | V {
  const expected = () => {
    try {
      return run()
    } catch (error) {
      if (error instanceof AppError) return refused(error)
      throw error
    }
  }
  return attempt('job', expected, failed)
}

const INTERNAL = problemBody({ code: 'internal', detail: 'an unexpected error; it was logged' })

/** The full faults of a thousand jobs would be many times the size of the request. */
function briefProblem(error: AppError) {
  const { errors, ...problem } = error.toProblem()
  return problemBody({
    ...problem,
    ...(errors === undefined ? {} : { errors: errors.slice(0, 1) }),
  })
}

function forJob(context: OperationContext, index: number): OperationContext {
  const { resolutions, sessions, ...rest } = context
  const name = sessions?.attempt
  const own = name === undefined ? {} : { attempt: `${name} ${index}` }
  return {
    ...rest,
    ...(sessions === undefined ? {} : { sessions: { ...sessions, ...own } }),
    ...(resolutions === undefined ? {} : { resolutions: [resolutions[index] ?? null] }),
  }
}

function invalid(path: string, message: string): AppError {
  const extras: ErrorExtras = { errors: [{ path, message }] }
  return new AppError('invalid_request', `${path}: ${message}`, extras)
}
