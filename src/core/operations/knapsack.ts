import { AppError } from '../base/errors.ts'
import {
  type KnapsackAnswer,
  type KnapsackRequest,
  knapsackAnswer,
  knapsackRequest,
} from '../contract/knapsack.ts'
import { solveMckp } from '../solvers/mckp/mckp.ts'
import { type MckpProblem, SKIPPED } from '../solvers/mckp/problem.ts'
import { sumOfLargest } from '../solvers/shared/value-grid.ts'
import type { Operation } from './operation.ts'

const DEFAULT_TIME_LIMIT_MS = 1_000
/** More than any time limit allows; the limit is the time here. */
const MAX_STATES = 1e12

/** `POST /v1/knapsack`, by the clock of this thread. */
export const knapsackOperation = createKnapsackOperation(() => performance.now())

/**
 * The one operation that may stop by a clock. Fails with `invalid_request` for ids that are not
 * unique, a required class without options, and values whose sum is not finite; with
 * `budget_too_small` if the required classes do not fit.
 * @param now milliseconds from any start
 */
export function createKnapsackOperation(
  now: () => number,
): Operation<KnapsackRequest, KnapsackAnswer> {
  return {
    name: 'knapsack',
    request: knapsackRequest,
    answer: knapsackAnswer,
    run(request) {
      const end = now() + (request.time_limit_ms ?? DEFAULT_TIME_LIMIT_MS)
      const problem = toProblem(request)
      const shouldStop = () => now() >= end
      const solution = solveMckp(problem, { maxStates: MAX_STATES, shouldStop })
      if (!solution.feasible) throw tooSmall(solution.minimumCost)
      const { cost, value, optimal, upperBound } = solution
      const picks = picksById(request, solution.picks)
      return { answer: { picks, cost, value, optimal, upper_bound: upperBound }, reports: [] }
    },
  }
}

/** @throws AppError `invalid_request` */
function toProblem({ classes, budget }: KnapsackRequest): MckpProblem {
  const size = classes.reduce((sum, { options }) => sum + options.length, 0)
  const starts = new Uint32Array(classes.length + 1)
  const costs = new Float64Array(size)
  const values = new Float64Array(size)
  const required = new Uint8Array(classes.length)
  const ids = new Set<string>()
  let end = 0
  classes.forEach(({ id, options, required: isRequired = false }, i) => {
    if (ids.size === ids.add(id).size) throw invalid(`classes.${i}.id`, 'used twice')
    if (isRequired && options.length === 0) {
      throw invalid(`classes.${i}.options`, 'a required class needs an option')
    }
    required[i] = isRequired ? 1 : 0
    const own = new Set<string>()
    options.forEach(({ id, cost, value }, j) => {
      if (own.size === own.add(id).size) {
        throw invalid(`classes.${i}.options.${j}.id`, 'used twice in its class')
      }
      costs[end] = cost
      values[end++] = value
    })
    starts[i + 1] = end
  })
  const problem = { starts, costs, values, required, budget }
  if (sumOfLargest(problem) === Infinity) {
    throw invalid('classes', 'the sum of the values is not a finite number')
  }
  return problem
}

/** Without a prototype, so that every id is an ordinary name. */
function picksById({ classes }: KnapsackRequest, picks: Int32Array): Record<string, string | null> {
  const byId: Record<string, string | null> = Object.create(null)
  classes.forEach(({ id, options }, i) => {
    const pick = picks[i] as number
    byId[id] = pick === SKIPPED ? null : (options[pick]?.id ?? null)
  })
  return byId
}

function tooSmall(minimum: number | null): AppError {
  const least = minimum === null ? '2^53 or more' : String(minimum)
  return new AppError(
    'budget_too_small',
    `the required classes cost ${least}`,
    minimum === null ? {} : { minimum_tokens: minimum },
  )
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}
