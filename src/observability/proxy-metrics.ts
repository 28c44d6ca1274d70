import { Counter, type Registry } from 'prom-client'
import type { Account } from '../book/bill/account.ts'
import type { RewriteReport } from '../core/contract/operation-result.ts'

/** Why a request was forwarded unchanged although it could have been rewritten. */
export type UntouchedReason =
  /** No place in the queue for its body. */
  | 'overloaded'
  /** Its body is above the limit. */
  | 'too_large'
  /** Its body is no request of that endpoint, or beyond a limit of the scanner. */
  | 'unreadable'
  /** Its client signed the body, so that a changed one would be refused. */
  | 'signed'
  /** Its unit is held out, so that the two arms can be compared. */
  | 'held_out'
  /** The job ran into its time limit, lost its thread, or met a bug. */
  | 'failed'

/** What operators see of the proxies. */
export interface ProxyMetrics {
  /** One exchange that is over; `outcome` is of the forwarder's fixed set. */
  exchange(vendor: string, outcome: string): void
  rewrite(vendor: string, rewrite: RewriteReport): void
  /** A prompt changed before its conversation; all labels are of fixed sets. */
  promptChange(vendor: string, change: NonNullable<RewriteReport['head_change']>): void
  untouched(vendor: string, reason: UntouchedReason): void
  /** What an answered request used and saved; without usage if its answer did not report any. */
  account(vendor: string, account: Account): void
  /** The store did not answer in time how results were sent before. */
  unrecorded(vendor: string): void
}

type CounterRow<Label extends string> = readonly [
  name: string,
  help: string,
  labels: readonly Label[],
]

/** Names, helps and labels, by what they count. */
const COUNTERS = {
  exchanges: [
    'haversack_proxy_exchanges_total',
    'Requests forwarded to a vendor, by how they ended',
    ['vendor', 'outcome'],
  ],
  texts: [
    'haversack_proxy_texts_total',
    'Texts of tool results in forwarded requests, by what became of them',
    ['vendor', 'result'],
  ],
  saved: [
    'haversack_proxy_tokens_saved_total',
    'Tokens that forwarded requests were spared, counted anew in each turn, by what saved them',
    ['vendor', 'by'],
  ],
  untouched: [
    'haversack_proxy_untouched_total',
    'Requests forwarded as they came although they could have been rewritten, by reason',
    ['vendor', 'reason'],
  ],
  changes: [
    'haversack_proxy_prefix_changes_total',
    'Requests whose conversation had been sent with another beginning, which its prompt cache does not know',
    ['vendor'],
  ],
  unrecorded: [
    'haversack_proxy_unrecorded_total',
    'Requests for which the store did not say how their results had been sent before',
    ['vendor'],
  ],
  tokens: [
    'haversack_proxy_tokens_total',
    'Tokens of answered requests by the figures of the vendor',
    ['vendor', 'kind'],
  ],
  silent: [
    'haversack_proxy_usage_missing_total',
    'Answered requests whose answers did not say what they used',
    ['vendor'],
  ],
  spared: [
    'haversack_proxy_billed_saved_total',
    'What requests cost less than as they came, in uncached input tokens',
    ['vendor'],
  ],
  lost: [
    'haversack_proxy_billed_lost_total',
    'What requests cost more than as they came, in uncached input tokens',
    ['vendor'],
  ],
  misses: [
    'haversack_cache_misses_total',
    'Requests of which the vendor had cached more than it read, by the first reason that holds',
    ['vendor', 'reason'],
  ],
  missed: [
    'haversack_cache_miss_tokens_total',
    'Tokens that were cached and not read, by the reason of the miss',
    ['vendor', 'reason'],
  ],
  promptChanges: [
    'haversack_prompt_changes_total',
    'Requests that had something else before the conversation than an earlier one, by what changed',
    ['vendor', 'place', 'kind', 'scope'],
  ],
  levers: [
    'haversack_levers_total',
    'Requests that a lever changed besides their results, by lever',
    ['vendor', 'lever'],
  ],
} as const

export function createProxyMetrics(registry: Registry): ProxyMetrics {
  const counter = <Label extends string>([name, help, labelNames]: CounterRow<Label>) =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] })
  const exchanges = counter(COUNTERS.exchanges)
  const texts = counter(COUNTERS.texts)
  const saved = counter(COUNTERS.saved)
  const untouched = counter(COUNTERS.untouched)
  const changes = counter(COUNTERS.changes)
  const unrecorded = counter(COUNTERS.unrecorded)
  const tokens = counter(COUNTERS.tokens)
  const silent = counter(COUNTERS.silent)
  const spared = counter(COUNTERS.spared)
  const lost = counter(COUNTERS.lost)
  const misses = counter(COUNTERS.misses)
  const missed = counter(COUNTERS.missed)
  const promptChanges = counter(COUNTERS.promptChanges)
  const levers = counter(COUNTERS.levers)
  return {
    promptChange: (vendor, { place, kind, scope }) =>
      promptChanges.inc({ vendor, place, kind, scope }),
    unrecorded: vendor => unrecorded.inc({ vendor }),
    exchange: (vendor, outcome) => exchanges.inc({ vendor, outcome }),
    rewrite(vendor, rewrite) {
      texts.inc({ vendor, result: 'rewritten' }, rewrite.rewritten)
      const { late = 0 } = rewrite
      texts.inc({ vendor, result: 'late' }, late)
      texts.inc({ vendor, result: 'kept' }, rewrite.texts - rewrite.rewritten - late)
      const { tokens_saved, tokens_referred: dedup = 0, tokens_elided: omission = 0 } = rewrite
      saved.inc({ vendor, by: 'dedup' }, dedup)
      saved.inc({ vendor, by: 'omission' }, omission)
      saved.inc({ vendor, by: 'encoder' }, tokens_saved - dedup - omission)
      changes.inc({ vendor }, rewrite.prefix_changed === true ? 1 : 0)
      for (const lever of rewrite.levers ?? []) levers.inc({ vendor, lever })
    },
    untouched: (vendor, reason) => untouched.inc({ vendor, reason }),
    account(vendor, { without_usage, usage, billed, without, misses: all }) {
      for (const [reason, { count, tokens: lost }] of Object.entries(all)) {
        misses.inc({ vendor, reason }, count)
        missed.inc({ vendor, reason }, lost)
      }
      if (without_usage > 0) silent.inc({ vendor })
      const { cache_write, cache_write_long, ...others } = usage
      const kinds = { ...others, cache_write: cache_write + cache_write_long }
      for (const [kind, count] of Object.entries(kinds)) tokens.inc({ vendor, kind }, count)
      spared.inc({ vendor }, Math.max(0, without - billed))
      lost.inc({ vendor }, Math.max(0, billed - without))
    },
  }
}
