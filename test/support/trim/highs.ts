import loadHighs from 'highs'
import type { TrimTree } from '../../../src/core/solvers/tree/tree.ts'

// Its types are those of a CommonJS module, whose default export would be one level deeper.
const load = loadHighs as unknown as typeof loadHighs.default
/** HiGHS (WebAssembly), an independent solver of mixed-integer programs. */
const highs = await load()

/**
 * The most that a choice within a budget can be worth, by HiGHS; `null` if what is required does
 * not fit.
 */
export function solveTreeWithHighs(tree: TrimTree, budget: number): number | null {
  const solution = highs.solve(asLp(tree, budget), { mip_rel_gap: 0, mip_abs_gap: 1e-6 })
  if (solution.Status === 'Infeasible') return null
  if (solution.Status !== 'Optimal') throw new Error(`HiGHS: ${solution.Status}`)
  let value = 0
  for (const [i, own] of tree.value.entries()) {
    const column = solution.Columns[`x${i}`]
    if (column !== undefined && Number(column.Primal) > 0.5) value += own
  }
  return value
}

/** The problem in the LP format of CPLEX: a node is no more than its parent. */
function asLp({ parent, cost, value, required }: TrimTree, budget: number): string {
  const all = [...parent.keys()]
  const sum = (factors: ArrayLike<number>) => all.map(i => `+ ${factors[i]!} x${i}`).join('\n ')
  return [
    'Maximize',
    ` ${sum(value)}`,
    'Subject To',
    ` ${sum(cost)} <= ${budget}`,
    ...all.flatMap(i => (i === 0 ? [' x0 = 1'] : [` x${i} - x${parent[i]!} <= 0`])),
    ...all.flatMap(i => (required?.[i] === 1 ? [` x${i} = 1`] : [])),
    'Binary',
    ...all.map(i => ` x${i}`),
    'End',
  ].join('\n')
}
