import { addFields } from '../../core/base/add-fields.ts'
import type { GainAnswer, GainDimension, GainPart } from '../../core/contract/gain.ts'
import { isoDay, mondayOf } from './amounts.ts'

export const DIMENSIONS = [
  'day',
  'week',
  'month',
  'project',
  'agent',
  'model',
  'tool',
  'way',
  'team',
] as const
export type By = (typeof DIMENSIONS)[number]

/** One part of what was saved, or all of it. */
export interface Part {
  readonly name: string
  readonly results: number
  /** Tokens of results, as tools gave them and as they were sent. */
  readonly before: number
  readonly after: number
  readonly omitted: number
  readonly fetched: number
  readonly requests: number
  readonly prefix_changes: number
  /** In uncached input tokens; `null`: no bill is known. */
  readonly bill: { readonly without: number; readonly billed: number } | null
  /** Over what has a price in the currency of the whole; `null`: nothing has one. */
  readonly money: { readonly without: number; readonly billed: number } | null
}

export interface GainFigures {
  readonly from: number
  readonly to: number
  /** The money of all sums; `null`: no price is known. */
  readonly currency: string | null
  readonly total: Part
  readonly by: Readonly<Record<By, readonly Part[]>>
  /** Models with bills of which no price is known. */
  readonly unpriced: readonly string[]
}

/** @param answers of ledgers, each another one */
export function figuresOf(answers: readonly GainAnswer[], from: number, to: number): GainFigures {
  const all = (dimension: GainDimension) => answers.flatMap(({ by }) => by[dimension])
  const currency = mainCurrency(all('model'))
  const sum = (parts: readonly GainPart[], nameOf: (name: string) => string = name => name) =>
    sumBy(parts, nameOf, currency)
  const byMost = (parts: readonly Part[]) => parts.toSorted((a, b) => weightOf(b) - weightOf(a))
  const byName = (parts: readonly Part[]) => parts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const days = all('day')
  return {
    from,
    to,
    currency,
    total: sum(days, () => 'all')[0] ?? NOTHING,
    by: {
      day: byName(sum(days, day => isoDay(Number(day)))),
      week: byName(sum(days, day => isoDay(mondayOf(Number(day))))),
      month: byName(sum(days, day => isoDay(Number(day)).slice(0, 7))),
      project: byMost(sum(all('project'))),
      agent: byMost(sum(all('agent'))),
      model: byMost(sum(all('model'))),
      tool: byMost(sum(all('tool'))),
      way: byMost(sum(all('way'))),
      team: byMost(sum(all('tenant'))),
    },
    unpriced: unpricedModels(all('model'), currency),
  }
}

/** The money that most was billed in: sums of several do not add up. */
function mainCurrency(parts: readonly GainPart[]): string | null {
  const priced = parts.filter(({ currency }) => currency !== '')
  const [most] = priced.toSorted((a, b) => b.without_money - a.without_money)
  return most?.currency ?? null
}

function unpricedModels(parts: readonly GainPart[], currency: string | null): string[] {
  const without = parts.filter(
    part => part.billed > 0 && part.currency !== currency && part.name !== '',
  )
  return [...new Set(without.map(({ name }) => name))]
}

function sumBy(
  parts: readonly GainPart[],
  nameOf: (name: string) => string,
  currency: string | null,
): Part[] {
  const sums = new Map<string, Part>()
  for (const part of parts) {
    const name = nameOf(part.name)
    const sum = sums.get(name) ?? { ...NOTHING, name }
    sums.set(name, addParts(sum, partOf(part, currency)))
  }
  return [...sums.values()]
}

function partOf({ referred, encoded, ...part }: GainPart, currency: string | null): Part {
  const { without, billed, without_money, billed_money, ...counts } = part
  const hasBill = part.requests > part.unknown || without !== 0 || billed !== 0
  const isPriced = without_money !== 0 || billed_money !== 0
  const hasMoney = isPriced && part.currency === currency
  return {
    ...counts,
    after: part.before - referred - encoded - part.omitted,
    bill: hasBill ? { without, billed } : null,
    money: hasMoney ? { without: without_money, billed: billed_money } : null,
  }
}

/** The sum of both, with the name of the first. */
function addParts({ name, bill, money, ...counts }: Part, more: Part): Part {
  return {
    name,
    ...addFields(counts, more),
    bill: addPairs(bill, more.bill),
    money: addPairs(money, more.money),
  }
}

function addPairs(a: Part['bill'], b: Part['bill']): Part['bill'] {
  return a === null || b === null ? (a ?? b) : addFields(a, b)
}

/** What comes first: the most tokens of results, then the largest bill. */
function weightOf({ before, bill }: Part): number {
  return before + (bill?.without ?? 0) / 1e9
}

const NOTHING: Part = {
  name: 'all',
  results: 0,
  before: 0,
  after: 0,
  omitted: 0,
  fetched: 0,
  requests: 0,
  prefix_changes: 0,
  bill: null,
  money: null,
}

/** Parts beyond the first ones as one. */
export function withRest(parts: readonly Part[], most: number): readonly Part[] {
  if (parts.length <= most) return parts
  const rest = parts.slice(most - 1)
  return [
    ...parts.slice(0, most - 1),
    { ...rest.reduce(addParts), name: `(${rest.length} others)` },
  ]
}
