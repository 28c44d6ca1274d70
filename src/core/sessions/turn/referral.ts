import type { HintFamily } from '../../hints/hint.ts'
import type { Entry } from '../index/session-index.ts'
import { type CoveredLines, linesCovered } from '../lines/covered-lines.ts'
import type { PlannedRun } from '../lines/plan-lines.ts'
import type { Dependency } from './call-memory.ts'

/** A content written with references to what the agent has already. */
export interface Referral {
  readonly kind: 'exact' | 'near' | 'lines'
  readonly content: string
  readonly format: string
  readonly hints: readonly { readonly family: HintFamily; readonly text: string }[]
  readonly dependencies: readonly Dependency[]
  /** The entry that the whole of it refers to. */
  readonly entry?: Entry
  /** The runs of the content's own lines that its lines refer to; absent: there are none. */
  readonly runs?: readonly PlannedRun[]
  /** Lines that are references; of texts in strings, those of all these texts. Absent: none. */
  readonly covered?: CoveredLines
}

/** A referral with some of its runs only, in another text. */
export function withRuns(
  referral: Referral,
  content: string,
  runs: readonly PlannedRun[],
): Referral {
  const all = [...new Set(referral.runs?.map(({ identity }) => identity))]
  const used = new Set(runs.map(({ identity }) => identity))
  return {
    ...referral,
    content,
    runs,
    covered: linesCovered(runs),
    hints: runs.map(({ reference }) => ({ family: 'lines', text: reference })),
    dependencies: referral.dependencies.filter((_, at) => used.has(all[at]!)),
  }
}
