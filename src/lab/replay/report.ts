import { vendorPrices } from '../../config/prices.ts'
import { figureLines, type ReportFigures, resultFigures } from '../../console/figure-lines.ts'
import { firstRows, percent, table } from '../../console/table.ts'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { billTurns } from '../guard/bill.ts'
import { BASELINES, type Baseline } from './baselines.ts'
import { DIMENSIONS, MEANS, type Replay, type Sums } from './replay.ts'

/** The measured sums, and how they were measured. */
export interface Replayed {
  readonly replay: Replay
  readonly tokenizer: string
  readonly baseline: Baseline
  /** Whose prices a bill by turns has. */
  readonly vendor: VendorName
}

/** Most rows of a group that the tables show; `--json` has them all. */
const MAX_ROWS = 15

const MEANS_NAMES = {
  exact: 'references to the same result',
  near: 'references to a result nearly the same',
  lines: 'references to lines',
  encoder: 'encoder',
  omission: 'omission (redeemable)',
} as const satisfies Record<(typeof MEANS)[number], string>

/** All sums, one JSON object. */
export function toJson({ replay, tokenizer, baseline, vendor }: Replayed): string {
  const { total, failed, tooSmall: too_small, hints, retrieval: redemption, findings, by } = replay
  const groups = Object.fromEntries(DIMENSIONS.map(name => [name, Object.fromEntries(by[name])]))
  const figures = figuresOf(total, baseline)
  const sums = {
    tokenizer,
    baseline,
    figures,
    total,
    failed,
    too_small,
    hints,
    redemption,
    turns: { vendor, ...billTurns(replay.billed, vendorPrices(vendor)) },
    findings,
  }
  return `${JSON.stringify({ ...sums, ...groups })}\n`
}

/** Tables for a reader. */
export function toTables({ replay, tokenizer, baseline, vendor }: Replayed): string {
  const { total, failed, tooSmall, hints, findings, by } = replay
  const parts = DIMENSIONS.map(name => {
    const groups = [...by[name]].sort(([, a], [, b]) => b.tokens_in - a.tokens_in)
    const rows = groups.map(([key, sums]) => row(key, sums))
    return firstRows(header(name), rows, MAX_ROWS)
  })
  parts.push(toSavingsTable(total))
  parts.push(table(header('total'), [row('all', total)]))
  const figures = figuresOf(total, baseline)
  if (figures !== null) parts.push(figureLines(figures).join('\n'))
  if (replay.retrieval.sent > 0) parts.push(netOf(replay))
  parts.push(billOf(replay, vendor))
  parts.push(`Hints: ${hints.sent - hints.failed} verified, ${hints.failed} failed.`)
  if (findings > 0) parts.push(`Not true: ${findings} findings, on stderr.`)
  if (tooSmall > 0) parts.push(`In no form within the budget, and in no sum: ${tooSmall}.`)
  if (failed > 0) parts.push(`Failed, and in no sum: ${failed}.`)
  const title = `Tokens in ${tokenizer}; the baseline is ${BASELINES[baseline]}.`
  return `${[title, ...parts].join('\n\n')}\n`
}

/** `null` if the results are compared with another way to write them. */
function figuresOf(sums: Sums, baseline: Baseline): ReportFigures | null {
  if (baseline !== 'input') return null
  const { results, tokens_in, tokens_out } = sums
  return resultFigures({ count: results, before: tokens_in, after: tokens_out })
}

/** The savings after some of the omitted parts were fetched. */
function netOf({ total: { tokens_in, tokens_out }, retrieval }: Replay): string {
  const { markers, sent, tokens } = retrieval
  const net = tokens_in - tokens_out - tokens
  return (
    `If ${markers} of ${sent} markers are fetched, each at its first place, that takes ${tokens} tokens; ` +
    `saved net: ${net} (${percent(net, tokens_in)}).`
  )
}

/** By estimate, since a recording of results has no bills. */
function billOf({ billed, retrieval }: Replay, vendor: VendorName): string {
  const { before, after, fetching } = billTurns(billed, vendorPrices(vendor))
  const round = (tokens: number) => Math.round(tokens).toLocaleString('en-US')
  const fetched = retrieval.sent === 0 ? '' : `, of which fetching is ${round(fetching)}`
  return (
    `With a turn after each result, at the prices of ${vendor} with its cache: about ` +
    `${round(before)} → ${round(after)} uncached input tokens${fetched}; ` +
    `saved: ${percent(before - after, before)}.`
  )
}

function toSavingsTable({ tokens_in, saved_tokens }: Sums): string {
  const rows = MEANS.map(means => {
    const tokens = saved_tokens[means]
    return [MEANS_NAMES[means], tokens, percent(tokens, tokens_in)]
  })
  return table(['saved by', 'tokens', 'share'], rows)
}

function header(name: string): string[] {
  return [name, 'results', 'tokens in', 'tokens out', 'saved', 'restored']
}

function row(key: string, { results, tokens_in, tokens_out, restored }: Sums): (string | number)[] {
  const saved = percent(tokens_in - tokens_out, tokens_in)
  return [key, results, tokens_in, tokens_out, saved, `${restored}/${results}`]
}
