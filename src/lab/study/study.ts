import { INNER_FORMATS, type InnerFormat } from '../../core/classify/inner-formats.ts'
import type { ShapeName, TelemetryEvent } from '../../core/telemetry/event.ts'
import { NO_SESSION } from '../../core/telemetry/pseudonyms.ts'
import { addSavings, noSavings, type SavingsSums } from '../../core/telemetry/savings.ts'
import { entryOf } from '../entry-of.ts'
import { formatsOf, MAX_LEVEL } from '../format-levels.ts'
import type { Mined } from '../mine-log.ts'
import {
  type Counts,
  count,
  countShare,
  medianShare,
  noCounts,
  type ShareCounts,
  savingOf,
} from './counts.ts'
import { conditionsOf } from './predicates.ts'
import { type Alike, mineRules } from './rules.ts'

/** From this level on, formats in strings are found only by recursion. */
export const DEEP_LEVEL = 3
/**
 * From this share of saved tokens on, choosing a format for a result is useful: the seed's
 * "applicable".
 */
export const APPLICABLE_SHARE = 0.2
/** Tenths of a result's tokens. */
const BUCKETS = 10
/** The format name of results that stayed unchanged. */
const UNENCODED = 'none'
/** Results that copies are recognised by; beyond it the first ones are forgotten. */
const MAX_IDENTITIES = 4_000_000
/** Sessions that are counted. */
const MAX_SESSIONS = 1_000_000
/** More come from a client that makes up names; they are summed up as one. */
const MAX_ENDPOINTS = 10_000
const OTHERS = 'others'

/** The results of one endpoint class. */
interface Endpoint {
  readonly sums: SavingsSums
  readonly shapes: Map<ShapeName, number>
  /** Results without a reference, by format. */
  readonly notations: Map<string | null, { results: number; readonly shares: ShareCounts }>
  applicable: number
}

/**
 * Properties of the tool results of a corpus, and how they are encoded: the seed's corpus study. In
 * memory for the sessions and the kinds of results.
 */
export class Study {
  readonly #identities = new Set<number>()
  /** The last partition of each session. */
  readonly #partitions = new Map<string, number>()
  readonly #sums = noSavings()
  readonly #shapes = new Map<ShapeName, Counts>()
  readonly #nesting = new Map<ShapeName, { results: number; with_formats: number; deep: number }>()
  readonly #levels = new Map(
    INNER_FORMATS.map(format => [format, Array<number>(MAX_LEVEL).fill(0)]),
  )
  readonly #combinations = new Map<
    string,
    Counts & Pick<TelemetryEvent, 'shape' | 'inner_formats'>
  >()
  readonly #histogram = Array.from({ length: BUCKETS + 1 }, noCounts)
  readonly #applicable = noCounts()
  readonly #notations = new Map<string, Counts & { applicable: number }>()
  readonly #alike = new Map<string, Alike>()
  readonly #endpoints = new Map<string, Endpoint>()
  #copies = 0
  #tokenizer: string | null = null

  /** @returns whether it is no copy of one that came before; copies are only counted */
  add(mined: Mined): boolean {
    if (this.#isCopy(mined.identity)) {
      this.#copies++
      return false
    }
    const { event } = mined
    const { shape, inner_formats } = event
    this.#tokenizer = event.tokenizer
    this.#followSession(event.session_hash, event.context_partition)
    addSavings(this.#sums, event, 1)
    count(entryOf(this.#shapes, shape, noCounts), event)
    const combination = `${shape} ${inner_formats.join(' ')}`
    count(
      entryOf(this.#combinations, combination, () => ({ ...noCounts(), shape, inner_formats })),
      event,
    )
    if (mined.levels.length > 0) this.#addLevels(shape, mined.levels)
    const endpoint = this.#endpointOf(event.endpoint_class)
    addSavings(endpoint.sums, event, 1)
    endpoint.shapes.set(shape, (endpoint.shapes.get(shape) ?? 0) + 1)
    if (!event.is_dedup_hit) this.#addEncoded(mined, endpoint)
    return true
  }

  #isCopy(identity: number | null): boolean {
    if (identity === null) return false
    if (this.#identities.has(identity)) return true
    this.#identities.add(identity)
    const [first] = this.#identities
    if (this.#identities.size > MAX_IDENTITIES) this.#identities.delete(first!)
    return false
  }

  #followSession(session: string, partition: number): void {
    if (session === NO_SESSION) return
    const before = this.#partitions.get(session)
    if (before === undefined && this.#partitions.size === MAX_SESSIONS) return
    this.#partitions.set(session, Math.max(before ?? 0, partition))
  }

  #addLevels(shape: ShapeName, masks: Mined['levels']): void {
    const nesting = entryOf(this.#nesting, shape, () => ({ results: 0, with_formats: 0, deep: 0 }))
    nesting.results++
    if (masks.some(mask => mask !== 0)) nesting.with_formats++
    if (masks.slice(DEEP_LEVEL - 1).some(mask => mask !== 0)) nesting.deep++
    for (const [level, mask] of masks.entries()) {
      for (const format of formatsOf(mask)) this.#levels.get(format)![level]!++
    }
  }

  #endpointOf(name: string): Endpoint {
    const isKnown = this.#endpoints.has(name) || this.#endpoints.size < MAX_ENDPOINTS
    return entryOf(this.#endpoints, isKnown ? name : OTHERS, () => {
      return { sums: noSavings(), shapes: new Map(), notations: new Map(), applicable: 0 }
    })
  }

  /** A result that no reference replaces. */
  #addEncoded({ event, notation }: Mined, endpoint: Endpoint): void {
    const saving = savingOf(event)
    const bucket = saving <= 0 ? 0 : Math.min(BUCKETS, 1 + Math.floor(saving * BUCKETS))
    count(this.#histogram[bucket]!, event)
    const name = notation ?? UNENCODED
    const sent = entryOf(this.#notations, name, () => ({ ...noCounts(), applicable: 0 }))
    count(sent, event)
    if (saving >= APPLICABLE_SHARE) {
      count(this.#applicable, event)
      sent.applicable++
      endpoint.applicable++
    }
    const { shape } = event
    const conditions = conditionsOf(event)
    const group = entryOf(this.#alike, `${shape} ${conditions} ${name}`, (): Alike => {
      return { shape, conditions, notation, results: 0, saved_tokens: 0, shares: new Map() }
    })
    group.saved_tokens += event.encoder_tokens_saved
    const own = entryOf(endpoint.notations, notation, () => ({ results: 0, shares: new Map() }))
    for (const each of [group, own]) {
      each.results++
      countShare(each.shares, saving)
    }
  }

  result() {
    const partitions = [...this.#partitions.values()]
    const levels = [...this.#levels].filter(([, counts]) => counts.some(n => n > 0))
    return {
      /** Each counted once, even if it stands in several logs. */
      results: this.#sums.results,
      copies: this.#copies,
      sessions: partitions.length,
      sessions_compacted: partitions.filter(partition => partition > 0).length,
      /** What counted the tokens; `null` without a result. */
      tokenizer: this.#tokenizer,
      sums: this.#sums,
      shapes: recordOf(this.#shapes),
      /** Where in JSON the formats are. */
      nesting: {
        /** JSON results, with formats in strings, and with formats at `DEEP_LEVEL` or deeper. */
        shapes: recordOf(this.#nesting),
        /** Results that have the format at each level from 1; the last has all that is deeper. */
        levels: Object.fromEntries(levels) as Partial<Record<InnerFormat, readonly number[]>>,
      },
      /** By shape and set of inner formats, that with most tokens first. */
      combinations: [...this.#combinations.values()].sort((a, b) => {
        return b.tokens - a.tokens || b.results - a.results
      }),
      /** What formats saved of results that no reference replaces. */
      encoded: {
        /** By the share that was saved: nothing, then by tenths. */
        histogram: this.#histogram,
        applicable: this.#applicable,
        notations: Object.fromEntries(this.#notations),
      },
      rules: mineRules([...this.#alike.values()]),
      /** Those with most tokens first. */
      endpoints: [...this.#endpoints].map(figuresOf).sort((a, b) => {
        return b.sums.baseline - a.sums.baseline || (a.endpoint < b.endpoint ? -1 : 1)
      }),
    }
  }
}

export type StudyFigures = ReturnType<Study['result']>

/** Properties of the results of one endpoint class, and how most of them were sent. */
function figuresOf([endpoint, { sums, shapes, notations, applicable }]: [string, Endpoint]) {
  const [shape, ofShape] = [...shapes].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]!
  const [best] = [...notations].sort(([a, m], [b, n]) => {
    return n.results - m.results || (String(a) < String(b) ? -1 : 1)
  })
  const [notation, counts] = best ?? [null, { results: 0, shares: new Map() }]
  const support = sums.results - sums.l0Results
  return {
    endpoint,
    sums,
    shape,
    /** Share of results that have it. */
    shape_share: ofShape / sums.results,
    /** What results without a reference were sent as most often; `null`: as they were. */
    notation,
    support,
    confidence: support === 0 ? 0 : counts.results / support,
    median_saving: medianShare(counts.shares),
    /** Results without a reference that a format saved much of. */
    applicable,
  }
}

function recordOf<Value>(map: ReadonlyMap<ShapeName, Value>): Partial<Record<ShapeName, Value>> {
  return Object.fromEntries(map)
}
