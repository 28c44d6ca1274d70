import { readTelemetryKey } from '../../book/events/key-file.ts'
import { telemetryFolder } from '../../book/events/layout.ts'
import { noTally, type ReadTally } from '../../book/events/read-lines.ts'
import { readEvents } from '../../book/events/read-telemetry.ts'
import { defineActions, type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import { dataOption, loadDataConfig } from '../../console/data-folder.ts'
import { figureLines, type ReportFigures, resultFigures } from '../../console/figure-lines.ts'
import { jsonOption } from '../../console/options.ts'
import { table } from '../../console/table.ts'
import {
  addEvent,
  noEffectiveness,
  reportLine,
  summarize,
} from '../../core/telemetry/effectiveness.ts'
import { BASELINE } from '../../core/telemetry/event.ts'
import { tenantFolder } from '../../core/telemetry/pseudonyms.ts'
import {
  createEndpointSavings,
  type Savings,
  type SavingsSums,
  savingsOf,
  type TokenizerSavings,
} from '../../core/telemetry/savings.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

const options = {
  ...dataOption,
  tenant: { type: 'string', value: 'NAME', help: 'Whose (default: all together)' },
  since: {
    type: 'string',
    value: 'TIME',
    help: 'Nothing older: days or hours back, such as 7d or 12h, or an ISO date',
    read: (given, refuse) => sinceMs(given, Date.now()) ?? refuse('7d, 12h or an ISO date'),
  },
  ...jsonOption,
} as const satisfies Options

export const telemetryCommand = defineActions({
  name: 'telemetry',
  examples: ['telemetry show'],
  options,
  actions: { show: { run: showSavings } },
})

async function showSavings(values: ValuesOf<typeof options>): Promise<number> {
  const config = loadDataConfig(values)
  const tenant = values.tenant === undefined ? undefined : folderOf(values.tenant, config.data_dir)
  const savings = createEndpointSavings()
  const tally = noTally()
  const options = { tenant, sinceMs: values.since ?? 0 }
  const effectiveness = noEffectiveness()
  for await (const batch of readEvents(telemetryFolder(config.data_dir), options, tally)) {
    for (const event of batch) {
      savings.add(event)
      addEvent(effectiveness, event)
    }
  }
  const groups = savings.groups()
  const enrichment = summarize(effectiveness)
  const line = reportLine(effectiveness)
  const answer = values.json
    ? JSON.stringify({
        baseline: BASELINE,
        tokenizers: groups.map(savingsRecord),
        ...(enrichment === null ? {} : { enrichment }),
        read: tally,
      })
    : `${reportSavings(groups, tally)}${line === null ? '' : `\n\n# enrichment: ${line}`}`
  process.stdout.write(`${answer}\n`)
  return EXIT.ok
}

/** The folder of a tenant. */
function folderOf(tenant: string, dataDir: string): string {
  const key = readTelemetryKey(dataDir)
  if (key === null)
    throw new UsageError(`${dataDir} has no telemetry ([telemetry] sample_rate = 1 records it)`)
  return tenantFolder(key, tenant)
}

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000 }

/**
 * Unix milliseconds of `7d` or `12h` before `nowMs`, or of an ISO date; `null` for anything else.
 */
export function sinceMs(text: string, nowMs: number): number | null {
  const [, count, unit] = /^(\d{1,6})([dh])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return nowMs - Number(count) * UNITS[unit]!
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}

const HEADER = ['endpoint', 'results', 'tokens', 'L0', 'dedup', 'encoder', 'omission', 'combined']
/** Endpoints of a table; the rest is in the sum. */
const MAX_ROWS = 40

/** One table for each tokenizer. Each names the baseline of its percentages. */
export function reportSavings(groups: readonly TokenizerSavings[], tally: ReadTally): string {
  if (groups.length === 0)
    return `no events ([telemetry] sample_rate = 1 records them)\n${readLine(tally)}`
  const tables = groups.map(({ tokenizer, total, endpoints }) => {
    const rows = endpoints.slice(0, MAX_ROWS).map(({ endpoint, sums }) => rowOf(endpoint, sums))
    const more = endpoints.length - rows.length
    return [
      `tokens by ${tokenizer}, baseline ${BASELINE}: results as their tools gave them`,
      ...figureLines(figuresOf(total)),
      table(HEADER, [...rows, rowOf('all', total)]),
      ...(more > 0 ? [`${more} more endpoints are in the sum`] : []),
    ].join('\n')
  })
  return [
    ...tables,
    'dedup and combined: of all tokens; encoder and omission: of the tokens of results without ' +
      'a reference; L0: share of results with one',
    readLine(tally),
  ].join('\n\n')
}

function figuresOf({ results, baseline, final }: SavingsSums): ReportFigures {
  return resultFigures({ count: results, before: baseline, after: final })
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
    figures: figuresOf(total),
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
