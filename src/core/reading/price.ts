import {
  CONSTRUCTS,
  type Construct,
  type ConstructPrice,
  DEFAULT_READING,
  isNeverAt,
  type ReadingLevel,
  STRENGTH,
  type Uses,
  usualPrice,
} from './constructs.ts'

/** What a configuration says of prices: of a construct by name, per text or in full. */
export type PriceOverrides = Readonly<
  Partial<
    Record<Construct, number | { readonly [Part in keyof ConstructPrice]?: number | undefined }>
  >
>

/** The level and the prices for one request. */
export interface Reading {
  readonly level: ReadingLevel
  /** With the strength of the level; `null`: the construct is never used. */
  readonly prices: Readonly<Record<Construct, ConstructPrice | null>>
}

export function createReading(level: ReadingLevel, overrides: PriceOverrides = {}): Reading {
  const strength = STRENGTH[level]
  const rows = CONSTRUCTS.map(construct => {
    if (isNeverAt(construct, level)) return [construct, null]
    const { text, share, each } = priceOf(construct, overrides[construct])
    const price = { text: text * strength, share: share * strength, each: each * strength }
    return [construct, price]
  })
  return { level, prices: Object.fromEntries(rows) }
}

/** A number is the price of a text that has the construct, however often. */
function priceOf(construct: Construct, override: PriceOverrides[Construct]): ConstructPrice {
  const usual = usualPrice(construct)
  if (override === undefined) return usual
  if (typeof override === 'number') return { text: override, share: 0, each: 0 }
  const { text = usual.text, share = usual.share, each = usual.each } = override
  return { text, share, each }
}

/** For requests and configurations that say nothing. */
export const USUAL_READING: Reading = createReading(DEFAULT_READING)
/** Every price is zero: the fewest tokens win. */
export const FREE_READING: Reading = createReading('dense')

/**
 * Tokens that are added to those of a text when texts are compared, by its constructs.
 * `Infinity` if it has one that the level does without.
 * @param tokens of the text as it is written
 */
export function readingPrice({ prices }: Reading, uses: Uses, tokens: number): number {
  let sum = 0
  for (const construct of CONSTRUCTS) {
    const count = uses[construct] ?? 0
    if (count === 0) continue
    const price = prices[construct]
    if (price === null) return Infinity
    sum += price.text + price.share * tokens + price.each * count
  }
  return sum
}

/** Tokens that one more use must save at least; `Infinity` if the level does without. */
export function priceOfUse({ prices }: Reading, construct: Construct): number {
  return prices[construct]?.each ?? Infinity
}

/** Whether a use of a construct changes the price of a text. */
export function isPriced({ prices }: Reading, construct: Construct): boolean {
  const price = prices[construct]
  return price === null || price.text !== 0 || price.share !== 0 || price.each !== 0
}

/** What texts use that are parts of one. */
export function addUses(...all: readonly (Uses | undefined)[]): Uses {
  const sum: Partial<Record<Construct, number>> = {}
  for (const uses of all) {
    if (uses === undefined) continue
    for (const construct of CONSTRUCTS) {
      const count = uses[construct]
      if (count !== undefined) sum[construct] = (sum[construct] ?? 0) + count
    }
  }
  return sum
}
