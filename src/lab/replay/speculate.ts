import { percent, table } from '../../console/table.ts'
import type { RecordedCall } from '../speculation/link-miner.ts'
import type { PlayedOffer } from '../speculation/play-session.ts'
import { LEAST_USED, type PlanStudy } from '../speculation/study-plans.ts'
import { argumentsOf } from '../tune/recorded-sessions.ts'
import type { RecordedResult } from './read-results.ts'

/** By session, and by agent: sub-agents have contexts of their own, and so has each compaction. */
export function sessionsOf(
  results: readonly RecordedResult[],
): ReadonlyMap<string, readonly RecordedCall[]> {
  const sessions = new Map<string, RecordedCall[]>()
  for (const { session, tool, args, text, is_error, is_sidechain, epoch = 0 } of results) {
    if (session === undefined) continue
    const name = `${session}${is_sidechain === true ? ' sidechain' : ''} ${epoch}`
    const calls = sessions.get(name) ?? []
    sessions.set(name, calls)
    calls.push({ tool, args: argumentsOf(args), text, isError: is_error === true })
  }
  return sessions
}

function countsOf(offers: readonly PlayedOffer[]) {
  const ahead = offers.filter(({ declined }) => declined === null)
  const late = offers.filter(({ declined, isUsed }) => declined !== null && isUsed)
  return {
    offered: offers.length,
    ahead: ahead.length,
    used: ahead.filter(({ isUsed }) => isUsed).length,
    served: ahead.filter(({ isServed }) => isServed).length,
    late: late.length,
  }
}

export function planRecord({ offers, calls, ...study }: PlanStudy) {
  const byTool = Map.groupBy(offers, ({ tool }) => tool)
  const tools = [...byTool].map(([name, own]) => {
    return { name, ...countsOf(own), calls: calls.get(name) ?? 0 }
  })
  const total = countsOf(offers)
  const sized = offers.filter(({ declined, actual }) => declined === null && actual !== null)
  const overruns = sized.filter(
    ({ actual, predicted }) => 10 * (actual as number) >= 13 * predicted,
  )
  const targets = tools.reduce((sum, each) => sum + each.calls, 0)
  return {
    ...study,
    total,
    rates: {
      prefetch_hit: share(total.used, total.ahead),
      decline_recall_loss: share(total.late, total.offered - total.ahead),
      cost_overrun: share(overruns.length, sized.length),
      coverage: share(total.used, targets),
      offered_coverage: share(total.used + total.late, targets),
    },
    tools,
  }
}

/** What became of the sessions that were told. */
export function reportPlans(study: PlanStudy): string {
  const { sessions, links, minProbability, total, rates, tools } = planRecord(study)
  const head = ['offered', 'ahead', 'used', 'share', 'served', 'declined, then called']
  const rows = tools
    .toSorted((a, b) => b.offered - a.offered)
    .map(({ name, offered, ahead, used, served, late, calls }) => [
      ...[name, offered, ahead, used, percent(used, ahead), served, late],
      percent(used, calls),
    ])
  return [
    `${links} links and min_probability ${minProbability} from ${sessions.fitted} sessions, ` +
      `played on ${sessions.told} others`,
    table(['tool', ...head, 'of its calls'], rows),
    `used ${inPercent(rates.prefetch_hit)} of ${total.ahead} calls ahead ` +
      `(target ${100 * LEAST_USED} %), ${inPercent(rates.coverage)} of all calls of these tools ` +
      `(${inPercent(rates.offered_coverage)} were offered)`,
    `declined and then called ${inPercent(rates.decline_recall_loss)} (target 10 %), ` +
      `at least 1.3 times as large as predicted ${inPercent(rates.cost_overrun)} (target 15 %)`,
  ].join('\n\n')
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

function inPercent(rate: number | null): string {
  return rate === null ? percent(0, 0) : percent(rate)
}
