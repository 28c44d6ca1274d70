import type { RewriteReport } from '../../core/contract/operation-result.ts'
import { billRequest, pricesFor, reportsWrites } from '../../core/conversation/usage/billing.ts'
import { PING_AFTER_MS } from '../../core/conversation/usage/life-rules.ts'
import { promptTokens } from '../../core/conversation/usage/token-usage.ts'
import type { AnswerUsage } from '../../core/conversation/usage/usage-reader.ts'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'
import type { Origin } from '../rows/day-sums.ts'
import { NO_ACCOUNT } from './account.ts'
import { definitionsOf } from './definitions-account.ts'
import { guardedBy, lifeOf, NO_LIFE } from './life-account.ts'
import { changeOf, missesOf } from './miss-account.ts'
import type { PriceList } from './price-list.ts'
import type { RequestRow } from './request-row.ts'
import { continues, type SeenPrompt, seenPrompt } from './seen-prompt.ts'

/** A request that the vendor answered. */
export interface AnsweredRequest {
  readonly vendor: VendorName
  /** The usage that the answer reported; `null` if it reported none. */
  readonly said: AnswerUsage | null
  /** What was done to the request; absent if it was forwarded unchanged. */
  readonly report?: RewriteReport | undefined
  /** Why it was forwarded unchanged, if that is known. */
  readonly untouched?: string | undefined
  /** A round that the proxy asked for by itself. It is a cost that nothing stands against. */
  readonly isHidden?: true
  /** What the agent calls its session, if it says so. */
  readonly session?: string | undefined
  /** The key that it came with; absent: there are no keys. */
  readonly key?: string | undefined
  /** How often the cache of its conversation was kept alive since the request before. */
  readonly pings?: number | undefined
  /** Whether it was sent to keep a cache alive. */
  readonly isPing?: true
  /** Where it came from. */
  readonly origin?: Origin | undefined
  /** Whether another service of ours answered it, which has counted it and its bill. */
  readonly isPassedOn?: boolean | undefined
  /** When its answer began, in milliseconds after it was sent; absent: that is not known. */
  readonly begunMs?: number | undefined
}

/** A request that was rewritten, before it is known whether the vendor answers it. */
export type SentRequest = Pick<AnsweredRequest, 'vendor' | 'session'> & {
  readonly report: RewriteReport
}

/** A model request that the vendor did not answer. */
export interface RefusedRequest {
  /** Where it went. */
  readonly host: string
  /** The status of the answer; `null` if there was none. */
  readonly status: number | null
  /** A stable code of what went wrong on the way, or `aborted` by the client; `null`: nothing. */
  readonly error: string | null
}

export interface BillingTerms {
  readonly prices: PriceList
  /** Tokens of the conversation that the provider had cached before. */
  readonly cachedBefore: number
  /** The prompt of the conversation that was answered before; `null`: none is known. */
  readonly before: SeenPrompt | null
  /** Whether answers of the model say what was read from a cache. */
  readonly readsCaches: boolean
}

/** A row but for whose it is, and when. */
type Billed = Omit<RequestRow, 'tenant' | 'at' | 'currency'>

/**
 * The row of the results of a request; `null`: there are none. They are counted when they are
 * recorded as sent, since a request that is sent again has them as known ones.
 */
export function sentResults({ vendor, report, session }: SentRequest): Billed | null {
  const { fresh, conversation: id } = report
  if (fresh === undefined) return null
  const { tokenizer, ...sums } = fresh
  const account = { ...NO_ACCOUNT, results: { [tokenizer]: sums } }
  const of = session === undefined ? {} : { session }
  const conversation = id === undefined ? {} : { conversation: { id, ...UNKNOWN, ...of } }
  return { vendor, account, untouched: null, prefixChanged: false, ...conversation }
}

/** The row of an answered request. Without the provider's figures nothing counts as saved. */
export function billedRequest(request: AnsweredRequest, terms: BillingTerms): Billed {
  const { vendor, said, report, untouched, session, key, pings = 0, begunMs = 0 } = request
  if (request.isHidden === true) return hiddenRound(request, terms)
  const id = report?.conversation
  const of = session === undefined ? {} : { session }
  const prefixChanged = report?.prefix_changed === true
  const { origin, isPassedOn } = request
  const done = { untouched: untouched ?? null, prefixChanged, origin, isPassedOn }
  if (said === null) {
    const account = { ...NO_ACCOUNT, requests: 1, without_usage: 1 }
    const unknown = id === undefined ? {} : { conversation: { id, ...UNKNOWN, ...of } }
    return { vendor, account, ...done, ...unknown }
  }
  const { usage, model } = said
  const { builtIn, prices: own } = terms.prices
  const prices = pricesFor(vendor, model, [builtIn, own])
  const saved = report?.saved ?? []
  const lostCache = report?.prefix_changed === true ? terms.cachedBefore : 0
  const before = keptAlive(terms.before, pings)
  const ofLife = { usage, before, report: report ?? {}, pings }
  const life = lifeOf(ofLife, prices)
  const earlier = earlierOf(terms.before, report)
  const { tools, ...sent } = billRequest({ usage, saved, lostCache, earlier }, prices)
  // The client would have paid for the miss, and neither for the hour nor for searches.
  const definitions = definitionsOf(usage, report ?? {}, prices)
  const extra = life.avoided - life.premium - definitions.searched
  const bill = { ...sent, without: sent.without + extra }
  const tokens = saved.reduce((sum, place) => sum + place.tokens, 0)
  const { per_million } = prices
  const misses = missesOf(usage, before, report ?? {}, prices)
  const account = {
    requests: 1,
    without_usage: 0,
    results: {},
    usage,
    removed: tokens === 0 ? {} : { [resolveTokenizer({ model })]: tokens },
    misses,
    life,
    definitions,
    ...bill,
    money: per_million === undefined ? NO_ACCOUNT.money : moneyOf(bill, per_million / 1e6),
  }
  const ofDay = { model: model ?? undefined, tools }
  if (report === undefined || id === undefined) return { vendor, account, ...done, ...ofDay }
  const { print } = report
  const cached = cachedOf(vendor, said)
  const known = reportsWrites(vendor) || terms.readsCaches ? cached : usage.cache_read
  const { guard } = guardedBy(ofLife, prices)
  const agent = print && {
    kind: print.kind,
    ...(key && { key }),
    seen: seenPrompt(print, { cached: known, begunMs, guard }),
  }
  const changed = changeOf(misses, report)
  const change = changed && { change: changed }
  const conversation = { id, model: model ?? null, cached, ...of, ...agent, ...change }
  return { vendor, account, ...done, ...ofDay, conversation, ...useIn(report, id) }
}

/** Which tools the conversation of a request called. */
function useIn({ definitions, print }: RewriteReport, conversation: string) {
  if (definitions === undefined || print === undefined) return {}
  const { called, isDropped } = definitions
  const { kind } = print
  return { use: { kind, conversation, called, ...(isDropped && { dropsSearches: true as const }) } }
}

/** The prompt before, if this one continues it. */
function earlierOf(before: SeenPrompt | null, report: RewriteReport | undefined) {
  const isContinued = before !== null && report?.print && continues(before, report.print)
  return isContinued ? before : undefined
}

/** Each ping gives a cache its life again. */
function keptAlive(before: SeenPrompt | null, pings: number): SeenPrompt | null {
  return before && { ...before, life_ms: before.life_ms + pings * PING_AFTER_MS }
}

/** What a hidden round adds: its bill, and no request. */
function hiddenRound(
  { vendor, said, report, session, isPing, origin, isPassedOn }: AnsweredRequest,
  terms: BillingTerms,
): Billed {
  const done = { untouched: null, prefixChanged: false, origin, isPassedOn }
  if (said === null) return { vendor, account: NO_ACCOUNT, ...done }
  const { usage, model } = said
  const { builtIn, prices: own } = terms.prices
  const prices = pricesFor(vendor, model, [builtIn, own])
  const { billed } = billRequest({ usage, saved: [], lostCache: 0 }, prices)
  const bill = { billed, without: 0 }
  const { per_million } = prices
  const priced = per_million === undefined ? null : moneyOf(bill, per_million / 1e6)
  const money = priced === null ? NO_ACCOUNT.money : { ...priced, requests: 0 }
  const life = isPing === true ? { ...NO_LIFE, pings: 1, pinged: billed } : NO_LIFE
  const account = { ...NO_ACCOUNT, usage, ...bill, life, money }
  const id = report?.conversation
  const ofDay = { model: model ?? undefined }
  if (id === undefined) return { vendor, account, ...done, ...ofDay }
  const of = session === undefined ? {} : { session }
  const conversation = { id, model: model ?? null, cached: cachedOf(vendor, said), ...of }
  return { vendor, account, ...done, ...ofDay, conversation }
}

const UNKNOWN = { model: null, cached: 0 } as const

function moneyOf({ billed, without }: { billed: number; without: number }, perToken: number) {
  return { requests: 1, billed: billed * perToken, without: without * perToken }
}

/**
 * Tokens of the prompt that the provider has in its cache from now on. It is all of the prompt if
 * the provider does not report what it writes.
 */
function cachedOf(vendor: VendorName, { usage }: AnswerUsage): number {
  const written = usage.cache_write + usage.cache_write_long
  return written > 0 || reportsWrites(vendor) ? usage.cache_read + written : promptTokens(usage)
}
