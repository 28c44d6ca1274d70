import { testUnits } from '../../core/arms/randomisation-test.ts'
import type { ArmSums } from '../../core/arms/sums.ts'
import { type ClassVerdict, verdictOf } from '../../core/arms/verdict.ts'
import type { ArmsAnswer } from '../../core/contract/arms.ts'
import type { ArmsSettings } from './arms.ts'
import { alarmOf, sinceAlarm, type TenantArms } from './tenant-arms.ts'

/** The answer for a tenant. */
export function armsAnswer(arms: TenantArms, settings: ArmsSettings): ArmsAnswer {
  const { holdout, explore } = settings
  return {
    settings: { holdout, explore, revert: true },
    since: arms.since,
    classes: Object.keys(arms.classes)
      .sort()
      .map(name => classAnswer(name, arms, explore)),
    units: unitsAnswer(arms),
  }
}

function classAnswer(
  name: string,
  arms: TenantArms,
  explore: number,
): ArmsAnswer['classes'][number] {
  const sums = sinceAlarm(arms, name)
  const verdict = verdictOf(sums, explore)
  const { direct, retrieved, excess, net, followUps, missing } = verdict
  return {
    class: name,
    elided: kindsOf(sums.elided),
    whole: kindsOf(sums.whole),
    direct: rounded(direct),
    retrieved: rounded(retrieved),
    excess: rounded(excess),
    net: net && {
      estimate: rounded(net.estimate),
      low: rounded(net.low),
      high: rounded(net.high),
    },
    follow_ups: followUps,
    verdict: wordOf(verdict),
    missing,
    alarm_at: alarmOf(arms, name)?.at ?? null,
  }
}

function kindsOf({ results, retrieval, same_call, same_file, failed_edit, turns }: ArmSums) {
  return { results, retrieval, same_call, same_file, failed_edit, turns }
}

function wordOf({ net }: ClassVerdict): 'saves' | 'costs' | 'unknown' {
  if (net === null) return 'unknown'
  if (net.high <= 0) return 'costs'
  return net.low > 0 ? 'saves' : 'unknown'
}

function rounded(tokens: number): number {
  return Math.round(tokens)
}

const MEASURES = {
  results: 'results',
  tokens: 'tokens',
  saved: 'saved',
  again: 'again',
  failed_edits: 'failedEdits',
} as const

function unitsAnswer({ units }: TenantArms): ArmsAnswer['units'] {
  const heldOut = units.filter(({ isHeldOut }) => isHeldOut).length
  const differences = Object.entries(MEASURES).flatMap(([measure, field]) => {
    const values = units.map(unit => ({ isHeldOut: unit.isHeldOut, value: unit[field] }))
    const found = testUnits(values, redrawing())
    return found === null ? [] : [{ measure: measure as keyof typeof MEASURES, ...found }]
  })
  return { treated: units.length - heldOut, held_out: heldOut, differences }
}

const SEED = 0x9e3779b9

/** The same numbers each time, so that the same sums have the same answer (mulberry32). */
function redrawing(): () => number {
  let state = SEED
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
