import { PASSTHROUGH } from '../../core/formats/passthrough.ts'
import { formatLabel } from '../../core/formats/text/text-format.ts'
import type { explain } from '../../index.ts'

type Explained = ReturnType<typeof explain>['candidates']

/**
 * What becomes of a candidate, in the order of the table's columns; the last three are refusals by
 * the gate.
 */
export const VERDICTS = ['sent', 'dearer', 'declined', 'bigger', 'differs', 'failed'] as const
type Verdict = (typeof VERDICTS)[number]

/** How many candidates of one format met each end. */
export type VerdictCounts = Record<Verdict, number>

export interface VerdictTally {
  readonly byFormat: ReadonlyMap<string, VerdictCounts>
  /** Adds the candidates of one result; where none was sent, the input was. */
  add(candidates: Explained): void
}

export function createVerdictTally(): VerdictTally {
  const byFormat = new Map<string, VerdictCounts>()
  const count = (format: string, verdict: Verdict): void => {
    const counts = byFormat.get(format) ?? zero()
    byFormat.set(format, counts)
    counts[verdict]++
  }
  return {
    byFormat,
    add(candidates) {
      for (const { format, verdict } of candidates) count(formatLabel(format), verdict)
      if (!candidates.some(({ verdict }) => verdict === 'sent')) count(PASSTHROUGH, 'sent')
    },
  }
}

function zero(): VerdictCounts {
  return { sent: 0, dearer: 0, declined: 0, bigger: 0, differs: 0, failed: 0 }
}
