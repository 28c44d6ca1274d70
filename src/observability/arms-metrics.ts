import type { ArmsCount } from '../book/arms/tenant-arms.ts'
import { FOLLOW_UPS, RESULT_ARMS } from '../core/arms/sums.ts'
import type { Register } from './register.ts'

/** What operators see of arms. */
export interface ArmsMetrics {
  /** Results that were drawn or counted. */
  results(count: ArmsCount): void
  /** Elision of a class costs more than it saves. */
  alarm(isReverted: boolean): void
}

export function createArmsMetrics({ counter }: Register): ArmsMetrics {
  const results = counter(
    'haversack_arms_results_total',
    'Results that were, or would have been, elided, by their arm',
    ['arm'],
  )
  const followUps = counter(
    'haversack_arms_follow_ups_total',
    'Calls that came back to such results, by the arm of the result and what they were',
    ['arm', 'kind'],
  )
  const units = counter(
    'haversack_arms_unit_results_total',
    'Results of sessions whose arm was drawn, by the arm',
    ['arm'],
  )
  const alarms = counter(
    'haversack_arms_alarms_total',
    'Classes whose elision costs more than it saves, by what was done',
    ['action'],
  )
  return {
    results(count) {
      for (const arm of RESULT_ARMS) {
        results.inc({ arm }, count.results[arm])
        for (const kind of FOLLOW_UPS) followUps.inc({ arm, kind }, count.followUps[arm][kind])
      }
      units.inc({ arm: 'held_out' }, count.ofUnits.heldOut)
      units.inc({ arm: 'treated' }, count.ofUnits.treated)
    },
    alarm: isReverted => alarms.inc({ action: isReverted ? 'reverted' : 'reported' }),
  }
}
