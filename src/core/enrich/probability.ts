import { z } from 'zod'
import { BoundedMap } from '../base/bounded-map.ts'

/** A follow-up that a result offers: the link, its place in the list, and the list's length. */
export interface Offer {
  readonly trigger: string
  readonly target: string
  /** The trigger's server, if servers are told apart. */
  readonly server?: string | undefined
  /** The share that the model states: `probability` of the link. */
  readonly prior: number
  readonly rank: number
  readonly listed: number
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
 * Share of the stated probability by place. The documents call the first three of any list ahead
 * (SOURCES.md#planner, patterns 3 and 4), so the list's length does not count. It does in what is
 * observed, which outweighs the share soon: in recorded coding sessions 54 % of single results were
 * followed, 25–31 % of lists of 2–3, 6–12 % of 4–10.
 */
const PLACE_SHARES = [1, 0.9, 0.8] as const
const MAX_RANK = PLACE_SHARES.length

/** The share of the stated probability that a call at this place of its list has. */
export function placeShare(offer: Pick<Offer, 'rank'>): number {
  return PLACE_SHARES[placeOf(offer) - 1]!
}
const WEEK_MS = 7 * 24 * 60 * 60 * 1_000
/** Kinds of offers that are counted; of more, those not observed for longest are forgotten. */
const MAX_KINDS = 10_000
/** Counts below this are forgotten. */
const LEAST = 0.05
/** After so many weeks nothing of any count is left. */
const FORGOTTEN_WEEKS = 60

/**
 * How often offers were followed, for one tenant. The weight of the past is halved every week, so
 * that a change of habits shows.
 */
export class Probabilities {
  readonly #now: () => number
  readonly #kinds = new BoundedMap<string, { tried: number; used: number }>(MAX_KINDS)
  #halvedAt: number

  /** @param now milliseconds since 1970 @param saved what `save` gave */
  constructor(now: () => number, saved?: ProbabilityState) {
    this.#now = now
    this.#halvedAt = saved?.halved_at_ms ?? now()
    for (const [kind, tried, used] of saved?.counts ?? []) this.#add(kind, tried, used)
  }

  /** p = (10·p0·s + used) / (10 + tried), with s the share of the place: 1, 0.9, 0.8. */
  of(offer: Offer): number {
    this.#halve()
    const { tried, used } = this.#kinds.get(kindOf(offer)) ?? { tried: 0, used: 0 }
    const prior = PRIOR_WEIGHT * offer.prior * placeShare(offer)
    return (prior + used) / (PRIOR_WEIGHT + tried)
  }

  /** Records an offer that was decided: whether the model made the call within its next three. */
  observe(offer: Offer, isUsed: boolean): void {
    this.#halve()
    this.#add(kindOf(offer), 1, isUsed ? 1 : 0)
  }

  /** Plain data for a file. */
  save(): ProbabilityState {
    this.#halve()
    return {
      halved_at_ms: this.#halvedAt,
      counts: [...this.#kinds].map(([kind, { tried, used }]) => [kind, tried, used]),
    }
  }

  #add(kind: string, tried: number, used: number): void {
    const counts = this.#kinds.get(kind) ?? { tried: 0, used: 0 }
    const more = Math.min(used, tried)
    this.#kinds.set(kind, { tried: counts.tried + tried, used: counts.used + more })
  }

  #halve(): void {
    const weeks = Math.floor((this.#now() - this.#halvedAt) / WEEK_MS)
    if (weeks <= 0) return
    this.#halvedAt += weeks * WEEK_MS
    const factor = weeks > FORGOTTEN_WEEKS ? 0 : 2 ** -weeks
    for (const [kind, { tried, used }] of [...this.#kinds]) {
      if (tried * factor < LEAST) this.#kinds.delete(kind)
      else this.#kinds.set(kind, { tried: tried * factor, used: used * factor })
    }
  }
}

/** Offers that are counted together. */
function kindOf(offer: Offer): string {
  const { trigger, target, server, listed } = offer
  const link = server === undefined ? [trigger, target] : [server, trigger, target]
  return JSON.stringify([...link, placeOf(offer), lengthClass(listed)])
}

/** 1, 2, or 3 for all that come after. */
function placeOf({ rank }: Pick<Offer, 'rank'>): number {
  return Math.min(MAX_RANK, Math.max(1, rank))
}

function lengthClass(listed: number): string {
  if (listed <= 1) return '1'
  if (listed <= 3) return '2-3'
  return listed <= 10 ? '4-10' : 'more'
}
