import type { InnerFormat } from '../../core/classify/inner-formats.ts'
import type { ShapeName } from '../../core/telemetry/event.ts'
import { NO_SESSION } from '../../core/telemetry/pseudonyms.ts'
import { addSavings, noSavings, type SavingsSums } from '../../core/telemetry/savings.ts'
import { entryOf } from '../entry-of.ts'
import type { Mined } from '../mine-log.ts'
import { type Counts, count, noCounts } from './counts.ts'
import { createEncoded, type EncodedStudy } from './encoded.ts'
import { createEndpointStudies, type EndpointStudy } from './endpoints.ts'
import { createNesting, type NestingStudy } from './nesting.ts'
import { mineRules, type Rule } from './rules.ts'

/**
 * Properties of the tool results of a corpus, and how they are encoded: the seed's corpus study.
 */
export interface Study {
  /** Each counted once, even if it stands in several logs. */
  readonly results: number
  readonly copies: number
  readonly sessions: number
  readonly sessions_compacted: number
  /** What counted the tokens; `null` without a result. */
  readonly tokenizer: string | null
  readonly sums: SavingsSums
  readonly shapes: Readonly<Partial<Record<ShapeName, Counts>>>
  readonly nesting: NestingStudy
  /** By shape and set of inner formats, that with most tokens first. */
  readonly combinations: readonly Combination[]
  readonly encoded: EncodedStudy
  readonly rules: readonly Rule[]
  readonly endpoints: readonly EndpointStudy[]
}

export interface Combination extends Counts {
  readonly shape: ShapeName
  readonly inner_formats: readonly InnerFormat[]
}

/** Results that copies are recognised by; beyond it the first ones are forgotten. */
const MAX_IDENTITIES = 4_000_000
/** Sessions that are counted. */
const MAX_SESSIONS = 1_000_000

/** Sums up results, in memory for the sessions and the kinds of results. */
export function createStudy() {
  const identities = new Set<number>()
  /** The last partition of each session. */
  const partitions = new Map<string, number>()
  const sums = noSavings()
  const shapes = new Map<ShapeName, Counts>()
  const combinations = new Map<string, Combination>()
  const nesting = createNesting()
  const encoded = createEncoded()
  const endpoints = createEndpointStudies()
  let copies = 0
  let tokenizer: string | null = null

  function isCopy(identity: number | null): boolean {
    if (identity === null) return false
    if (identities.has(identity)) return true
    identities.add(identity)
    if (identities.size > MAX_IDENTITIES) identities.delete(identities.values().next().value!)
    return false
  }

  function followSession(session: string, partition: number): void {
    if (session === NO_SESSION) return
    const before = partitions.get(session)
    if (before === undefined && partitions.size === MAX_SESSIONS) return
    partitions.set(session, Math.max(before ?? 0, partition))
  }

  return {
    /** @returns whether it is no copy of one that came before; copies are only counted */
    add(mined: Mined): boolean {
      if (isCopy(mined.identity)) {
        copies++
        return false
      }
      const { event } = mined
      const { shape, inner_formats } = event
      tokenizer = event.tokenizer
      followSession(event.session_hash, event.context_partition)
      addSavings(sums, event, 1)
      count(entryOf(shapes, shape, noCounts), event)
      const combination = entryOf(combinations, `${shape} ${inner_formats.join(' ')}`, () => {
        return { ...noCounts(), shape, inner_formats }
      })
      count(combination, event)
      nesting.add(mined)
      encoded.add(mined)
      endpoints.add(mined)
      return true
    },
    result: (): Study => ({
      results: sums.results,
      copies,
      sessions: partitions.size,
      sessions_compacted: [...partitions.values()].filter(partition => partition > 0).length,
      tokenizer,
      sums,
      shapes: Object.fromEntries(shapes),
      nesting: nesting.result(),
      combinations: [...combinations.values()].sort(byTokens),
      encoded: encoded.result(),
      rules: mineRules(encoded.alike()),
      endpoints: endpoints.result(),
    }),
  }
}

function byTokens(a: Combination, b: Combination): number {
  return b.tokens - a.tokens || b.results - a.results
}
