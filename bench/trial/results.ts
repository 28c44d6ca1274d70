import { createHash } from 'node:crypto'
import type { Arm } from './arms.ts'
import {
  compareCost,
  compareCostAtEqualSteps,
  compareSolved,
  compareSteps,
  type Pair,
  passAll,
  silenceIfApart,
} from './statistics.ts'
import type { Played, PlayedPair } from './with-model.ts'

/** What is said of an arm, each apart from the others. */
export interface ArmResult {
  readonly arm: Arm
  /** Of the very requests that were sent: exact, and without pairs. */
  readonly bill: {
    readonly billed: number
    readonly without: number
    readonly saved: number
  } | null
  readonly steps: ReturnType<typeof compareSteps>
  readonly solved: ReturnType<typeof compareSolved> & { readonly all_of_3: number | null }
  readonly cost_at_equal_steps: ReturnType<typeof compareCostAtEqualSteps>
  readonly cost: ReturnType<typeof compareCost>
}

/** How many pairs show what: from the spread of published runs, 80 % power, 5 % two-sided. */
const POWER = [
  [46, '5 % less cost at equal steps'],
  [137, 'that steps are not 10 % more'],
  [371, 'that not 5 points fewer are solved'],
  [1_100, '5 % less cost as paid'],
] as const

/** What so many pairs can show. */
export function powerOf(pairs: number): string {
  const shown = POWER.filter(([needed]) => pairs >= needed).map(([, what]) => what)
  const hidden = POWER.filter(([needed]) => pairs < needed).map(([n, what]) => `${what} (${n})`)
  const can = shown.length === 0 ? 'nothing of what a trial is for' : shown.join('; ')
  return `${pairs} pairs can show: ${can}.${hidden.length === 0 ? '' : ` They cannot show: ${hidden.join('; ')}.`}`
}

const pairsOf = (all: readonly PlayedPair[], arm: Arm): readonly Pair[] =>
  all.flatMap(({ sides }) => {
    const [raw, other] = [sides.get('raw'), sides.get(arm)]
    return raw === undefined || other === undefined ? [] : [{ raw, arm: other }]
  })

function resultOf(all: readonly PlayedPair[], arm: Arm): ArmResult {
  const pairs = pairsOf(all, arm)
  const sides = all.flatMap(({ sides: each }) => each.get(arm) ?? [])
  const billed = sides.filter(({ cost, without }) => cost !== null && without !== null)
  const sum = (of: 'cost' | 'without') => billed.reduce((total, each) => total + each[of]!, 0)
  const bySeed = Map.groupBy(all, ({ seed }) => seed)
  const attempts = [...bySeed.values()].map(tries =>
    tries.flatMap(({ sides: each }) => each.get(arm)?.solved ?? []),
  )
  const [paid, without] = [sum('cost'), sum('without')]
  return {
    arm,
    bill: billed.length === 0 ? null : { billed: paid, without, saved: 1 - paid / without },
    steps: compareSteps(pairs),
    solved: { ...compareSolved(pairs), all_of_3: passAll(attempts, 3) },
    cost_at_equal_steps: compareCostAtEqualSteps(pairs),
    cost: compareCost(pairs),
  }
}

/** What is said of each arm: no verdict if the two raw arms are told apart. */
export function judge(all: readonly PlayedPair[], arms: readonly Arm[]): readonly ArmResult[] {
  const results = arms.filter(arm => arm !== 'raw').map(arm => resultOf(all, arm))
  return silenceIfApart(results, 'raw_again')
}

const MOST_BYTES = 50_000

/** The file that is kept of a model; without its pairs if they would make it too long. */
export function resultsFile(
  about: object,
  { pairs, excluded, isOverBudget, spent }: Played,
  arms: readonly Arm[],
  transcripts: string,
): string {
  const results = judge(pairs, arms)
  const sha256 = createHash('sha256').update(transcripts).digest('hex')
  const rows = pairs.map(({ seed, pass, sides }) => [
    ...[seed, pass],
    ...arms.map(arm => {
      const { solved, steps, cost } = sides.get(arm)!
      return [solved ? 1 : 0, steps, cost === null ? null : Math.round(cost)]
    }),
  ])
  const file = { ...about, spent, isOverBudget, excluded, transcripts: sha256, results }
  const text = `${JSON.stringify({ ...file, arms, pairs: rows })}\n`
  if (text.length <= MOST_BYTES) return text
  return `${JSON.stringify({ ...file, arms, pairs: `${rows.length}, in the transcripts` })}\n`
}
