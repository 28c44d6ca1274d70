import type { RewriteReport } from '../core/contract/operation-result.ts'
import { billRequest, type PriceRule, pricesFor } from '../core/conversation/usage/billing.ts'
import { promptTokens } from '../core/conversation/usage/token-usage.ts'
import type { AnswerUsage } from '../core/conversation/usage/usage-reader.ts'
import { resolveTokenizer } from '../core/tokens/profiles.ts'
import { type Account, NO_ACCOUNT } from './account.ts'
import type { Entry, VendorName } from './tenant-ledger.ts'

/** A request that the vendor answered. */
export interface AnsweredRequest {
  readonly vendor: VendorName
  /** The usage that the answer reported; `null` if it reported none. */
  readonly said: AnswerUsage | null
  /** What was done to the request; absent if it was forwarded unchanged. */
  readonly report?: RewriteReport | undefined
  /** Why it was forwarded unchanged, if that is known. */
  readonly untouched?: string | undefined
  /** What the agent calls its session, if it says so. */
  readonly session?: string | undefined
}

export interface EntryTerms {
  readonly prices: readonly PriceRule[]
  /** Tokens of the conversation that the provider had cached before. */
  readonly cachedBefore: number
}

/**
 * What a request adds to its tenant's ledger. Without the provider's figures nothing counts as
 * saved.
 */
export function entryOf(
  { vendor, said, report, untouched, session }: AnsweredRequest,
  terms: EntryTerms,
): Entry {
  const id = report?.conversation
  const of = session === undefined ? {} : { session }
  const done = {
    report: { untouched: untouched ?? null, prefixChanged: report?.prefix_changed === true },
  }
  if (said === null) {
    const account = { ...NO_ACCOUNT, requests: 1, without_usage: 1, results: resultsOf(report) }
    const unknown = id === undefined ? {} : { conversation: { id, ...UNKNOWN, ...of } }
    return { vendor, account, ...done, ...unknown }
  }
  const { usage, model } = said
  const prices = pricesFor(vendor, model, terms.prices)
  const saved = report?.saved ?? []
  const lostCache = report?.prefix_changed === true ? terms.cachedBefore : 0
  const bill = billRequest({ usage, saved, lostCache }, prices)
  const tokens = saved.reduce((sum, place) => sum + place.tokens, 0)
  const { per_million } = prices
  const account = {
    requests: 1,
    without_usage: 0,
    results: resultsOf(report),
    usage,
    removed: tokens === 0 ? {} : { [resolveTokenizer({ model })]: tokens },
    ...bill,
    money: per_million === undefined ? NO_ACCOUNT.money : moneyOf(bill, per_million / 1e6),
  }
  if (id === undefined) return { vendor, account, ...done }
  const conversation = { id, model: model ?? null, cached: cachedOf(said), ...of }
  return { vendor, account, ...done, conversation }
}

function resultsOf(report: RewriteReport | undefined): Account['results'] {
  if (report?.fresh === undefined) return {}
  const { tokenizer, ...sums } = report.fresh
  return { [tokenizer]: sums }
}

const UNKNOWN = { model: null, cached: 0 } as const

function moneyOf({ billed, without }: { billed: number; without: number }, perToken: number) {
  return { requests: 1, billed: billed * perToken, without: without * perToken }
}

/**
 * Tokens of the prompt that the provider has in its cache from now on. It is all of the prompt if
 * the provider does not report what it writes.
 */
function cachedOf({ usage }: AnswerUsage): number {
  const written = usage.cache_write + usage.cache_write_long
  return written > 0 ? usage.cache_read + written : promptTokens(usage)
}
