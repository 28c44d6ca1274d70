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

function kindOf({ sample }: Measured): string {
  return sample.kind
}

function groupOf({ sample }: Measured): string {
  return sample.group
}

function moneyOf({ tokens_in, tokens_out }: Sums, price: number): number {
  return ((tokens_in - tokens_out) * price) / MILLION
}

function missingOf(measured: readonly Measured[]): readonly { name: string; part: string }[] {
  return measured.flatMap(({ sample, missing }) =>
    missing.map(part => ({ name: sample.name, part })),
  )
}

function header(name: string): string[] {
  return [
    name,
    'texts',
    'reduced',
    'tokens in',
    'lossless',
    'elided',
    'saved',
    'of lossless',
    'critical kept',
    'restored',
  ]
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
  texts: number
  reduced: number
  tokens_in: number
  /** Tokens of the smallest lossless texts. */
  tokens_lossless: number
  tokens_out: number
  critical: number
  critical_kept: number
  markers: number
  /** Markers that gave the very bytes back. */
  restored: number
}

/** Sums by a property of the samples, in the order in which it is met. */
export function sumBy(
  measured: readonly Measured[],
  keyOf: (measured: Measured) => string,
): ReadonlyMap<string, Sums> {
  const groups = new Map<string, Sums>()
  for (const each of measured) {
    const key = keyOf(each)
    const sums = groups.get(key) ?? zero()
    groups.set(key, sums)
    add(sums, each)
  }
  return groups
}

export function sumAll(measured: readonly Measured[]): Sums {
  return sumBy(measured, () => '').get('') ?? zero()
}

function zero(): Sums {
  return {
    texts: 0,
    reduced: 0,
    tokens_in: 0,
    tokens_lossless: 0,
    tokens_out: 0,
    critical: 0,
    critical_kept: 0,
    markers: 0,
    restored: 0,
  }
}

function add(sums: Sums, { sample, answer, lossless, missing, restored }: Measured): void {
  sums.texts++
  sums.tokens_in += answer.tokens.baseline
  sums.tokens_lossless += lossless
  sums.tokens_out += answer.tokens.final
  sums.critical += sample.critical.length
  sums.critical_kept += sample.critical.length - missing.length
  if (restored === null) return
  sums.reduced++
  sums.markers++
  if (restored) sums.restored++
}
