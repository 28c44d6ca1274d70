import type { Config } from '../../config/config.ts'
import { shippedModels } from '../../config/shipped-models.ts'
import { table } from '../../console/table.ts'
import { parseJson } from '../../core/json/parse-json.ts'
import { ObjectValue, type Value } from '../../core/json/value.ts'
import type { RecordedCall } from '../speculation/link-miner.ts'
import type { PlayedOffer } from '../speculation/play-session.ts'
import { LEAST_USED, type PlanStudy, studyPlans } from '../speculation/study-plans.ts'
import type { RecordedResult } from './read-results.ts'

/** Plays recorded sessions with the planner, and reports what calls ahead would have brought. */
export function replayPlans(
  results: readonly RecordedResult[],
  { enrichment, tools }: Pick<Config, 'enrichment' | 'tools'>,
  countTokens: (text: string) => number,
): PlanStudy {
  return studyPlans(sessionsOf(results), {
    layers: { shipped: shippedModels(), user: tools },
    budgetTokens: enrichment.prefetch_budget_tokens,
    maxParallel: enrichment.max_parallel_prefetches,
    countTokens,
  })
}

/** By session, and by agent: sub-agents have contexts of their own, and so has each compaction. */
function sessionsOf(
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

function argumentsOf(args: unknown): Value {
  const parsed = args === undefined ? undefined : parseJson(JSON.stringify(args))
  return parsed?.ok ? parsed.value : new ObjectValue([], [])
}

interface Counts {
  offered: number
  ahead: number
  used: number
  served: number
  late: number
}

function countsBy(offers: readonly PlayedOffer[], nameOf: (offer: PlayedOffer) => string) {
  const rows = new Map<string, Counts>()
  for (const offer of offers) {
    const name = nameOf(offer)
    const counts = rows.get(name) ?? { offered: 0, ahead: 0, used: 0, served: 0, late: 0 }
    rows.set(name, counts)
    counts.offered++
    if (offer.declined === null) {
      counts.ahead++
      if (offer.isUsed) counts.used++
      if (offer.isServed) counts.served++
    } else if (offer.isUsed) counts.late++
  }
  return rows
}

function lengthOf({ offer: { listed } }: PlayedOffer): string {
  if (listed <= 1) return '1'
  if (listed <= 3) return '2-3'
  return listed <= 10 ? '4-10' : 'more'
}

export function planRecord({ offers, calls, ...study }: PlanStudy) {
  const groups = {
    tool: countsBy(offers, ({ tool }) => tool),
    rank: countsBy(offers, ({ offer }) => String(offer.rank)),
    list: countsBy(offers, lengthOf),
  }
  const total = countsBy(offers, () => 'all').get('all') ?? {
    offered: 0,
    ahead: 0,
    used: 0,
    served: 0,
    late: 0,
  }
  const declined = total.offered - total.ahead
  const sized = offers.filter(({ declined, actual }) => declined === null && actual !== null)
  const overruns = sized.filter(
    ({ actual, predicted }) => 10 * (actual as number) >= 13 * predicted,
  )
  const targets = [...groups.tool.keys()].reduce((sum, tool) => sum + (calls.get(tool) ?? 0), 0)
  return {
    ...study,
    total,
    rates: {
      prefetch_hit: share(total.used, total.ahead),
      decline_recall_loss: share(total.late, declined),
      cost_overrun: share(overruns.length, sized.length),
      coverage: share(total.used, targets),
      offered_coverage: share(total.used + total.late, targets),
    },
    by: Object.fromEntries(
      Object.entries(groups).map(([group, rows]) => [
        group,
        [...rows].map(([name, counts]) => ({
          name,
          ...counts,
          ...(group === 'tool' ? { calls: calls.get(name) ?? 0 } : {}),
        })),
      ]),
    ),
  }
}

/** Tables of the sessions that were told. */
export function reportPlans(study: PlanStudy): string {
  const { sessions, links, minProbability, total, rates, by } = planRecord(study)
  const head = ['', 'offered', 'ahead', 'used', 'share', 'served', 'declined, then called']
  const tables = Object.entries(by).map(([group, rows]) => {
    const isTool = group === 'tool'
    const lines = rows
      .toSorted((a, b) => b.offered - a.offered)
      .map(({ name, offered, ahead, used, served, late, ...rest }) => [
        ...[name, offered, ahead, used, percent(share(used, ahead)), served, late],
        ...(isTool ? [percent(share(used, (rest as { calls: number }).calls))] : []),
      ])
    return table([group, ...head.slice(1), ...(isTool ? ['of its calls'] : [])], lines)
  })
  return [
    `${links} links and min_probability ${minProbability} from ${sessions.fitted} sessions, ` +
      `played on ${sessions.told} others`,
    ...tables,
    `used ${percent(rates.prefetch_hit)} of ${total.ahead} calls ahead ` +
      `(target ${100 * LEAST_USED} %), ${percent(rates.coverage)} of all calls of these tools ` +
      `(${percent(rates.offered_coverage)} were offered)`,
    `declined and then called ${percent(rates.decline_recall_loss)} (target 10 %), ` +
      `at least 1.3 times as large as predicted ${percent(rates.cost_overrun)} (target 15 %)`,
  ].join('\n\n')
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

function percent(rate: number | null): string {
  return rate === null ? '–' : `${(100 * rate).toFixed(1)} %`
}
