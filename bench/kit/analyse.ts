import { summarize } from '../../src/lab/bill/summarize.ts'
import {
  compareCostAtEqualSteps,
  compareSolved,
  compareSteps,
  type Difference,
  type Pair,
  silenceIfApart,
} from '../trial/statistics.ts'

export const COLUMNS = 'arm,task,solved,steps,cache_read,cache_write,usd'

/** What the other arms are compared with; published runs call it `baseline`. */
const BASES = ['direct', 'baseline']

/** One arm beside the base. A change is a share: −0.05 is 5 % less. */
export interface ArmAnalysis {
  readonly arm: string
  /** Of the sum over tasks, with the interval over tasks. */
  readonly cost: Difference
  readonly steps: Difference
  readonly cost_at_equal_steps: Difference
  readonly solved: ReturnType<typeof compareSolved>
}

/** @throws {Error} with the line that cannot be read */
function rowsOf(csv: string) {
  const lines = csv.split('\n').map((text, at) => ({ text: text.trim(), at: at + 1 }))
  const [header, ...rows] = lines.filter(({ text }) => text !== '' && !text.startsWith('#'))
  if (header?.text !== COLUMNS) throw new Error(`the first line must be ${COLUMNS}`)
  return rows.map(({ text, at }) => {
    const [arm = '', task = '', ...numbers] = text.split(',')
    const [solved, steps, , , usd] = numbers.map(Number)
    const isWhole = numbers.length === 5 && numbers.every(each => Number(each) >= 0)
    if (!isWhole || !(steps! > 0)) throw new Error(`line ${at} is no result of a task: ${text}`)
    return { arm, task, side: { solved: solved === 1, steps: steps!, cost: usd! } }
  })
}

/**
 * Arms against the base, by tasks that both have. If the base's repetition (`direct_again`) can be
 * told apart from it, nothing is said of the others.
 * @throws {Error} if there is no base
 */
export function analyse(csv: string): readonly ArmAnalysis[] {
  const byArm = Map.groupBy(rowsOf(csv), ({ arm }) => arm)
  const base = BASES.find(arm => byArm.has(arm))
  if (base === undefined) throw new Error(`no arm is ${BASES.join(' or ')}`)
  const analysed = [...byArm]
    .filter(([arm]) => arm !== base)
    .map(([arm, rows]) => analyseArm(arm, pairsOf(byArm.get(base)!, rows)))
  return silenceIfApart(analysed, 'direct_again')
}

/** Several passes of a task are paired in their order. */
function pairsOf(base: ReturnType<typeof rowsOf>, other: typeof base): readonly Pair[] {
  const waiting = Map.groupBy(other, ({ task }) => task)
  return base.flatMap(({ task, side: raw }) => {
    const arm = waiting.get(task)?.shift()?.side
    return arm === undefined ? [] : [{ raw, arm }]
  })
}

function analyseArm(arm: string, pairs: readonly Pair[]): ArmAnalysis {
  const sums = pairs.map(({ raw, arm: other }) => ({ direct: raw.cost!, arm: other.cost! }))
  const { saved, low, high } = summarize(sums)
  const verdict = low > 0 ? 'fewer' : high < 0 ? 'more' : 'not told apart'
  return {
    arm,
    cost: { pairs: pairs.length, change: -saved, low: -high, high: -low, verdict },
    steps: compareSteps(pairs),
    cost_at_equal_steps: compareCostAtEqualSteps(pairs),
    solved: compareSolved(pairs),
  }
}
