import { entryOf } from '../entry-of.ts'
import type { Mined } from '../mine-log.ts'
import { type Counts, count, countShare, noCounts, savingOf } from './counts.ts'
import { conditionsOf } from './predicates.ts'
import type { Alike } from './rules.ts'

/**
 * From this share of saved tokens on, choosing a format for a result is useful: the seed's
 * "applicable".
 */
export const APPLICABLE_SHARE = 0.2
/** Tenths of a result's tokens. */
const BUCKETS = 10
/** The format name of results that stayed unchanged. */
const UNENCODED = 'none'

export interface FormatCounts extends Counts {
  applicable: number
}

/** What formats saved of results that no reference replaces. */
export interface EncodedStudy {
  /** By the share that was saved: nothing, then by tenths. */
  readonly histogram: readonly Counts[]
  readonly applicable: Counts
  readonly notations: Readonly<Record<string, FormatCounts>>
}

export function createEncoded() {
  const histogram = Array.from({ length: BUCKETS + 1 }, noCounts)
  const applicable = noCounts()
  const notations = new Map<string, FormatCounts>()
  const alike = new Map<string, Alike>()
  return {
    add({ event, notation }: Mined): void {
      if (event.is_dedup_hit) return
      const saving = savingOf(event)
      const bucket = saving <= 0 ? 0 : Math.min(BUCKETS, 1 + Math.floor(saving * BUCKETS))
      count(histogram[bucket]!, event)
      const name = notation ?? UNENCODED
      const sent = entryOf(notations, name, () => ({ ...noCounts(), applicable: 0 }))
      count(sent, event)
      if (saving >= APPLICABLE_SHARE) {
        count(applicable, event)
        sent.applicable++
      }
      const { shape } = event
      const conditions = conditionsOf(event)
      const kind = { shape, conditions, notation }
      const group = entryOf(alike, `${shape} ${conditions} ${name}`, () => {
        return { ...kind, results: 0, saved_tokens: 0, shares: new Map() }
      })
      group.results++
      group.saved_tokens += event.encoder_tokens_saved
      countShare(group.shares, saving)
    },
    result: (): EncodedStudy => ({
      histogram,
      applicable,
      notations: Object.fromEntries(notations),
    }),
    /** What rules are mined from. */
    alike: (): readonly Alike[] => [...alike.values()],
  }
}
