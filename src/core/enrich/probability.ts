import { z } from 'zod'

/** A follow-up that a result offers: the link, its place in the list, and the list's length. */
export interface Offer {
  readonly trigger: string
  readonly target: string
  /** The share that the model states: `probability` of the link. */
  readonly prior: number
  readonly rank: number
  readonly listed: number
}

/**
 * How often offers were followed, for one tenant. The weight of the past is halved every week, so
 * that a change of habits shows.
 */
export interface Probabilities {
  /** p = (10·p0·n^−0.8 + used) / (10 + tried), with n the length of the list. */
  of(offer: Offer): number
  /** Records an offer that was decided: whether the model made the call within its next three. */
  observe(offer: Offer, isUsed: boolean): void
  /** Plain data for a file; `createProbabilities` takes it again. */
  save(): ProbabilityState
}

const count = z.number().min(0).max(1e9)

export const probabilityState = z.strictObject({
  halved_at_ms: z.number().min(0).max(8.64e15),
  counts: z.array(z.tuple([z.string().max(2_048), count, count])).max(10_000),
})

export type ProbabilityState = z.output<typeof probabilityState>

/** Weight of what the model states, in offers. */
const PRIOR_WEIGHT = 10
/**
 * Of lists of n, one item is followed in a share of about n^−0.8: in recorded coding sessions 54 %
 * of single results, 25–31 % of 2–3, 6–12 % of 4–10.
 */
const LENGTH_EXPONENT = -0.8
const MAX_RANK = 3
const WEEK_MS = 7 * 24 * 60 * 60 * 1_000
/** Kinds of offers that are counted; of more, those that were counted first are forgotten. */
const MAX_KINDS = 10_000
/** Counts below this are forgotten. */
const LEAST = 0.05
/** After so many weeks nothing of any count is left. */
const FORGOTTEN_WEEKS = 60

interface Counts {
  tried: number
  used: number
}

/** @param now milliseconds since 1970 */
export function createProbabilities(now: () => number, saved?: ProbabilityState): Probabilities {
  const kinds = new Map<string, Counts>(
    saved?.counts.map(([kind, tried, used]) => [kind, { tried, used: Math.min(used, tried) }]),
  )
  let halvedAt = saved?.halved_at_ms ?? now()

  function halve(): void {
    const weeks = Math.floor((now() - halvedAt) / WEEK_MS)
    if (weeks <= 0) return
    halvedAt += weeks * WEEK_MS
    const factor = weeks > FORGOTTEN_WEEKS ? 0 : 2 ** -weeks
    for (const [kind, counts] of kinds) {
      counts.tried *= factor
      counts.used *= factor
      if (counts.tried < LEAST) kinds.delete(kind)
    }
  }

  return {
    of(offer) {
      halve()
      const { tried, used } = kinds.get(kindOf(offer)) ?? { tried: 0, used: 0 }
      const length = Math.max(1, offer.listed)
      const prior = PRIOR_WEIGHT * offer.prior * length ** LENGTH_EXPONENT
      return (prior + used) / (PRIOR_WEIGHT + tried)
    },
    observe(offer, isUsed) {
      halve()
      const kind = kindOf(offer)
      const counts = kinds.get(kind) ?? { tried: 0, used: 0 }
      if (kinds.size >= MAX_KINDS && !kinds.has(kind)) {
        kinds.delete(kinds.keys().next().value as string)
      }
      counts.tried += 1
      if (isUsed) counts.used += 1
      kinds.set(kind, counts)
    },
    save() {
      halve()
      return {
        halved_at_ms: halvedAt,
        counts: [...kinds].map(([kind, { tried, used }]) => [kind, tried, used]),
      }
    },
  }
}

/** Offers that are counted together. */
function kindOf({ trigger, target, rank, listed }: Offer): string {
  const place = Math.min(MAX_RANK, Math.max(1, rank))
  return JSON.stringify([trigger, target, place, lengthClass(listed)])
}

function lengthClass(listed: number): string {
  if (listed <= 1) return '1'
  if (listed <= 3) return '2-3'
  return listed <= 10 ? '4-10' : 'more'
}
