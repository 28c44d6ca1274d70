import { percent, table } from '../../console/table.ts'
import type { Asked } from './ask-model.ts'
import type { Measured } from './measure.ts'

/** The result of a bench, and the price of its tokens. */
export interface Report {
  readonly measured: readonly Measured[]
  readonly tokenizer: string
  /** The price of a million tokens; `null`: no price was given. */
  readonly price: number | null
  readonly currency: string
  readonly asked: Asked | null
}

const MILLION = 1_000_000
/** Failures that are listed; `--json` has them all. */
const MOST_LISTED = 20

/** All sums as JSON. */
export function toJson(report: Report): string {
  const { measured, tokenizer, price, currency, asked } = report
  const total = sumAll(measured)
  const money = price === null ? null : { currency, per_mtok: price, saved: moneyOf(total, price) }
  return `${JSON.stringify({
    tokenizer,
    total,
    by_kind: Object.fromEntries(sumBy(measured, kindOf)),
    by_group: Object.fromEntries(sumBy(measured, groupOf)),
    money,
    model: asked,
    missing: missingOf(measured),
  })}\n`
}

/** Tables for a reader. */
export function toTables({ measured, tokenizer, price, currency, asked }: Report): string {
  const total = sumAll(measured)
  const parts = [
    `Tokens in ${tokenizer}; "lossless" is the smallest text that loses nothing.`,
    table(header('kind'), rowsOf(sumBy(measured, kindOf))),
    table(header('group'), rowsOf(sumBy(measured, groupOf))),
    table(header('total'), rowsOf(new Map([['all', total]]))),
  ]
  if (price !== null) {
    parts.push(
      `Saved: ${moneyOf(total, price).toFixed(4)} ${currency} at ${price} a million tokens.`,
    )
  }
  if (asked !== null) {
    const { questions, right_whole, right_left, same } = asked
    parts.push(
      `Of ${questions} answers of the model, ${right_whole} were right from the whole text, ` +
        `${right_left} from what is left; ${same} were the same.`,
    )
  }
  const missing = missingOf(measured)
  for (const { name, part } of missing.slice(0, MOST_LISTED))
    parts.push(`missing in ${name}: ${part}`)
  if (missing.length > MOST_LISTED)
    parts.push(`… and ${missing.length - MOST_LISTED} more (--json)`)
  return `${parts.join('\n\n')}\n`
}

const kindOf = ({ sample }: Measured) => sample.kind
const groupOf = ({ sample }: Measured) => sample.group

function moneyOf({ tokens_in, tokens_out }: Sums, price: number): number {
  return ((tokens_in - tokens_out) * price) / MILLION
}

function missingOf(measured: readonly Measured[]): readonly { name: string; part: string }[] {
  return measured.flatMap(({ sample, missing }) =>
    missing.map(part => ({ name: sample.name, part })),
  )
}

function header(name: string): readonly string[] {
  const tokens = ['tokens in', 'lossless', 'elided', 'saved', 'of lossless']
  return [name, 'texts', 'reduced', ...tokens, 'critical kept', 'restored']
}

function rowsOf(groups: ReadonlyMap<string, Sums>): (string | number)[][] {
  return [...groups]
    .sort(([, a], [, b]) => b.tokens_in - a.tokens_in)
    .map(([key, sums]) => [
      key,
      sums.texts,
      sums.reduced,
      sums.tokens_in,
      sums.tokens_lossless,
      sums.tokens_out,
      percent(sums.tokens_in - sums.tokens_out, sums.tokens_in),
      percent(sums.tokens_lossless - sums.tokens_out, sums.tokens_lossless),
      `${sums.critical_kept}/${sums.critical}`,
      `${sums.restored}/${sums.markers}`,
    ])
}

/** Sums over texts that have something in common. */
export interface Sums {
  readonly texts: number
  readonly reduced: number
  readonly tokens_in: number
  /** Tokens of the smallest lossless texts. */
  readonly tokens_lossless: number
  readonly tokens_out: number
  readonly critical: number
  readonly critical_kept: number
  readonly markers: number
  /** Markers that gave the very bytes back. */
  readonly restored: number
}

/** Sums by a property of the samples, in the order in which it is met. */
export function sumBy(
  measured: readonly Measured[],
  keyOf: (measured: Measured) => string,
): ReadonlyMap<string, Sums> {
  const groups = [...Map.groupBy(measured, keyOf)]
  return new Map(groups.map(([key, group]) => [key, sumAll(group)]))
}

export function sumAll(measured: readonly Measured[]): Sums {
  const sum = (of: (each: Measured) => number) =>
    measured.reduce((total, each) => total + of(each), 0)
  const critical = sum(({ sample }) => sample.critical.length)
  const reduced = measured.filter(({ restored }) => restored !== null)
  return {
    texts: measured.length,
    reduced: reduced.length,
    tokens_in: sum(({ answer }) => answer.tokens.baseline),
    tokens_lossless: sum(({ lossless }) => lossless),
    tokens_out: sum(({ answer }) => answer.tokens.final),
    critical,
    critical_kept: critical - sum(({ missing }) => missing.length),
    markers: reduced.length,
    restored: reduced.filter(({ restored }) => restored).length,
  }
}
