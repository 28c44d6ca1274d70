import loadHighs from 'highs'
import type { MckpProblem } from '../../../src/core/solvers/mckp/problem.ts'

// Its types are those of a CommonJS module, whose default export would be one level deeper.
const load = loadHighs as unknown as typeof loadHighs.default
/** HiGHS (WebAssembly), an independent solver of mixed-integer programs. */
const highs = await load()

/**
 * A problem and the most that a choice within its budget can be worth, by HiGHS; `null` if none
 * fits.
 */
export function solveWithHighs(problem: MckpProblem): number | null {
  const { starts, costs, values, required } = problem
  if (costs.length === 0) return required.includes(1) ? null : 0
  const solution = highs.solve(asLp(problem), { mip_rel_gap: 0, mip_abs_gap: 1e-6 })
  if (solution.Status === 'Infeasible') return null
  if (solution.Status !== 'Optimal') throw new Error(`HiGHS: ${solution.Status}`)
  let value = 0
  for (let j = 0; j < starts.at(-1)!; j++) {
    const column = solution.Columns[`x${j}`]
    if (column !== undefined && Number(column.Primal) > 0.5) value += values[j]!
  }
  return value
}

/** The problem in the LP format of CPLEX. */
function asLp({ starts, costs, values, required, budget }: MckpProblem): string {
  const all = Array.from({ length: starts.at(-1)! }, (_, j) => j)
  const sum = (factors: Float64Array) => all.map(j => `+ ${factors[j]!} x${j}`).join('\n ')
  const choices = Array.from(required, (isRequired, i) => {
    const own = all.slice(starts[i]!, starts[i + 1]!)
    if (own.length === 0) return isRequired === 1 ? ['0 x0 = 1'] : []
    return [`${own.map(j => `x${j}`).join(' + ')} ${isRequired === 1 ? '=' : '<='} 1`]
  }).flat()
  return [
    'Maximize',
    ` ${sum(values)}`,
    'Subject To',
    ` ${sum(costs)} <= ${budget}`,
    ...choices.map(line => ` ${line}`),
    'Binary',
    ...all.map(j => ` x${j}`),
    'End',
  ].join('\n')
}
