import { BASELINE } from '../../core/telemetry/event.ts'
import {
  type Savings,
  type SavingsSums,
  savingsOf,
  type TokenizerSavings,
} from '../../core/telemetry/savings.ts'
import type { ReadTally } from '../../telemetry/read-lines.ts'
import { table } from '../table.ts'

const HEADER = ['endpoint', 'results', 'tokens', 'L0', 'dedup', 'encoder', 'omission', 'combined']
/** Endpoints of a table; the rest is in the sum. */
const MAX_ROWS = 40

/** Tables, one a tokenizer, each saying what its percentages are of. */
export function reportSavings(groups: readonly TokenizerSavings[], tally: ReadTally): string {
  if (groups.length === 0)
    return `no events ([telemetry] enabled = true records them)\n${readLine(tally)}`
  const tables = groups.map(({ tokenizer, total, endpoints }) => {
    const rows = endpoints.slice(0, MAX_ROWS).map(({ endpoint, sums }) => rowOf(endpoint, sums))
    const more = endpoints.length - rows.length
    return [
      `tokens by ${tokenizer}, baseline ${BASELINE}: results as their tools gave them`,
      table(HEADER, [...rows, rowOf('all', total)]),
      ...(more > 0 ? [`${more} more endpoints are in the sum`] : []),
    ].join('\n')
  })
  return [
    ...tables,
    'dedup and combined: of all tokens; encoder and omission: of the tokens of results without a reference; L0: share of results with one',
    readLine(tally),
  ].join('\n\n')
}

function rowOf(name: string, sums: SavingsSums): (string | number)[] {
  const { dedup, encoder, omission, combined } = savingsOf(sums)
  return [
    name,
    Math.round(sums.results),
    Math.round(sums.baseline),
    shareText(sums.results > 0 ? sums.l0Results / sums.results : null),
    ...[dedup, encoder, omission, combined].map(shareText),
  ]
}

function shareText(share: number | null): string {
  return share === null ? '–' : `${(100 * share).toFixed(1)} %`
}

function readLine({ files, read, unreadable, skipped }: ReadTally): string {
  const passed = Object.entries(skipped).filter(([, count]) => count > 0)
  return [
    `${read} events in ${files} files`,
    ...passed.map(([why, count]) => `${count} lines ${why.replace('_', ' ')}`),
    ...(unreadable > 0 ? [`${unreadable} files unreadable`] : []),
  ].join(', ')
}

/** The same for programs: sums in tokens, shares of 1. */
export function savingsRecord({ tokenizer, total, endpoints }: TokenizerSavings) {
  return {
    tokenizer,
    total: recordOf(total),
    endpoints: endpoints.map(({ endpoint, sums }) => ({ endpoint, ...recordOf(sums) })),
  }
}

function recordOf(sums: SavingsSums) {
  const savings: Savings = savingsOf(sums)
  return {
    results: sums.results,
    baseline_tokens: sums.baseline,
    final_tokens: sums.final,
    l0_results: sums.l0Results,
    l0_token_share: savings.hitShare,
    dedup_savings_pct: savings.dedup,
    encoder_savings_pct: savings.encoder,
    omission_savings_pct: savings.omission,
    combined_savings_pct: savings.combined,
  }
}
