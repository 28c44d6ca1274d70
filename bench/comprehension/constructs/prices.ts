import { CONSTRUCTS, type Construct } from '../../../src/core/reading/constructs.ts'
import { type Interval, pairedInterval, shareInterval } from '../intervals.ts'
import type { Answered } from './answers-file.ts'

/** What the answers say of a construct. */
export interface ConstructRow {
  readonly construct: Construct
  /** Questions that were answered on both sides. */
  readonly asked: number
  readonly right: { readonly with: number; readonly without: number }
  readonly intervals: { readonly with: Interval | null; readonly without: Interval | null }
  /** Errors more with the construct, per question, and their interval. */
  readonly more: number
  readonly moreInterval: Interval | null
  /** Tokens for a text that has the construct; 0 if the interval holds zero. */
  readonly price: number
}

/** @param errorTokens tokens that a wrong answer costs an agent */
export function priceRows(answers: readonly Answered[], errorTokens: number): ConstructRow[] {
  return CONSTRUCTS.map(construct => rowOf(construct, answers, errorTokens))
}

function rowOf(
  construct: Construct,
  answers: readonly Answered[],
  errorTokens: number,
): ConstructRow {
  const both = new Map<string, { with?: boolean; without?: boolean }>()
  for (const { construct: other, seed, question, side, right } of answers) {
    if (other !== construct) continue
    const place = `${seed} ${question}`
    both.set(place, { ...both.get(place), [side]: right })
  }
  const asked = [...both.values()].filter(
    each => each.with !== undefined && each.without !== undefined,
  )
  const count = asked.length
  const right = {
    with: asked.filter(each => each.with).length,
    without: asked.filter(each => each.without).length,
  }
  const failed = asked.filter(each => !each.with && each.without).length
  const mended = asked.filter(each => each.with && !each.without).length
  const moreInterval = count === 0 ? null : pairedInterval(failed, mended, count)
  const more = count === 0 ? 0 : (failed - mended) / count
  const isCertain = moreInterval !== null && moreInterval.low > 0
  return {
    construct,
    asked: count,
    right,
    intervals: {
      with: shareInterval(right.with, count),
      without: shareInterval(right.without, count),
    },
    more,
    moreInterval,
    price: isCertain ? Math.round(more * errorTokens) : 0,
  }
}

/** A section for a configuration, of the constructs that were asked about. */
export function pricesSection(rows: readonly ConstructRow[]): string {
  // Brackets have a price of each token, which `inline_json_cost` sets.
  const asked = rows.filter(row => row.asked > 0 && row.construct !== 'brackets')
  return ['[reading.prices]', ...asked.map(row => `${row.construct} = ${row.price}`)].join('\n')
}
