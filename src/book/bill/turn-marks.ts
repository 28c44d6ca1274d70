import {
  cacheLifeOf,
  cacheLivesOf,
  costOf,
  pricesFor,
  reportsWrites,
  type TokenPrices,
  withCacheRead,
} from '../../core/conversation/usage/billing.ts'
import { VENDOR_NAMES, type VendorName } from '../../core/dialects/lookup.ts'
import type { LedgerTurn } from '../rows/figures.ts'
import { isMiss } from './miss-account.ts'
import type { PriceList } from './price-list.ts'

/** What happened before a request that its bill shows. */
export interface TurnMark {
  /** The place of the request in the list. */
  readonly at: number
  readonly kind: 'own' | 'compaction' | 'idle' | 'model' | 'miss'
  /** Milliseconds since the request before. */
  readonly pause: number
  /** The prompt of the request before and of this one, in tokens. */
  readonly prompts: readonly [before: number, now: number]
  /** Tokens that were cached and not read. */
  readonly tokens: number
  /** What that cost above reading them, in uncached input tokens. */
  readonly cost: number
}

/** A prompt that is shorter than this part of the one before was compacted by its agent. */
const COMPACTED = 0.6
const LEAST_PROMPT = 8_192
/** If no rule says how long caches live, in seconds. */
const LIFE_S = 300

/** Prices of a vendor's model; `null` if the vendor has none. */
export function turnPrices(list: PriceList, vendor: string, model: string): TokenPrices | null {
  const layers = [list.builtIn, list.prices]
  return isPriced(vendor) ? pricesFor(vendor, model, layers) : null
}

/**
 * Misses of caches and compactions in the requests of one conversation, as their bills show them.
 * The accounts have the reasons of misses by conversation only.
 */
export function turnMarks(turns: readonly LedgerTurn[], list: PriceList): readonly TurnMark[] {
  return turns.flatMap((now, at) => {
    const before = turns[at - 1]
    const mark = before === undefined ? null : markOf(before, now, list)
    return mark === null ? [] : [{ at, ...mark }]
  })
}

function markOf(before: LedgerTurn, now: LedgerTurn, list: PriceList): Omit<TurnMark, 'at'> | null {
  const { vendor, model } = now
  if (now.known === 0 || before.known === 0 || !isPriced(vendor)) return null
  const prompts = [promptOf(before), promptOf(now)] as const
  const [last, prompt] = prompts
  const wasCached = reportsWrites(vendor) ? last - before.uncached : last
  const cached = Math.min(wasCached, prompt)
  const tokens = cached - now.cache_read
  const isCompacted = last > LEAST_PROMPT && prompt < COMPACTED * last
  const isLost = isMiss(tokens, cached)
  if (!isLost && !isCompacted) return null
  const prices = pricesFor(vendor, model, [list.builtIn, list.prices])
  const usage = { ...now, cache_write_long: 0 }
  const cost = isLost ? costOf(usage, prices) - costOf(withCacheRead(usage, cached), prices) : 0
  const lives = cacheLivesOf(vendor, [...list.builtIn, ...list.prices])
  const lifeMs = 1_000 * (cacheLifeOf(lives, model) ?? LIFE_S)
  const pause = now.at - before.at
  const kind =
    now.prefix_changed === 1
      ? 'own'
      : isCompacted
        ? 'compaction'
        : pause > lifeMs
          ? 'idle'
          : model === before.model
            ? 'miss'
            : 'model'
  return { kind, pause, prompts, tokens: Math.max(0, tokens), cost }
}

function promptOf({ uncached, cache_read, cache_write }: LedgerTurn): number {
  return uncached + cache_read + cache_write
}

function isPriced(vendor: string): vendor is VendorName {
  return (VENDOR_NAMES as readonly string[]).includes(vendor)
}
