import { Counter, type Registry } from 'prom-client'
import type { RewriteReport } from './core/operations/operation.ts'
import type { Account } from './savings/account.ts'

/** Why a request was forwarded as it came although it could have been rewritten. */
export type UntouchedReason =
  /** No place in the queue for its body. */
  | 'overloaded'
  /** Its body is above the limit. */
  | 'too_large'
  /** Its body is no request of that endpoint, or beyond a limit of the scanner. */
  | 'unreadable'
  /** The job ran into its time limit, lost its thread, or met a bug. */
  | 'failed'

/** What operators see of the proxies. */
export interface ProxyMetrics {
  /** One exchange that is over; `outcome` is of the forwarder's fixed set. */
  exchange(vendor: string, outcome: string): void
  rewrite(vendor: string, rewrite: RewriteReport): void
  untouched(vendor: string, reason: UntouchedReason): void
  /** What an answered request used and saved; without usage where its answer did not say. */
  account(vendor: string, account: Account): void
  /** The store did not say in time how results were sent before. */
  unrecorded(vendor: string): void
}

export function createProxyMetrics(registry: Registry): ProxyMetrics {
  const registers = [registry]
  const exchanges = new Counter({
    name: 'haversack_proxy_exchanges_total',
    help: 'Requests forwarded to a vendor, by how they ended',
    labelNames: ['vendor', 'outcome'],
    registers,
  })
  const texts = new Counter({
    name: 'haversack_proxy_texts_total',
    help: 'Texts of tool results in forwarded requests, by what became of them',
    labelNames: ['vendor', 'result'],
    registers,
  })
  const saved = new Counter({
    name: 'haversack_proxy_tokens_saved_total',
    help: 'Tokens that forwarded requests were spared, counted anew in each turn, by what saved them',
    labelNames: ['vendor', 'by'],
    registers,
  })
  const untouched = new Counter({
    name: 'haversack_proxy_untouched_total',
    help: 'Requests forwarded as they came although they could have been rewritten, by reason',
    labelNames: ['vendor', 'reason'],
    registers,
  })
  const changes = new Counter({
    name: 'haversack_proxy_prefix_changes_total',
    help: 'Requests whose conversation had been sent with another beginning, which its prompt cache does not know',
    labelNames: ['vendor'],
    registers,
  })
  const unrecorded = new Counter({
    name: 'haversack_proxy_unrecorded_total',
    help: 'Requests for which the store did not say how their results had been sent before',
    labelNames: ['vendor'],
    registers,
  })
  const tokens = new Counter({
    name: 'haversack_proxy_tokens_total',
    help: 'Tokens of answered requests by the figures of the vendor',
    labelNames: ['vendor', 'kind'],
    registers,
  })
  const silent = new Counter({
    name: 'haversack_proxy_usage_missing_total',
    help: 'Answered requests whose answers did not say what they used',
    labelNames: ['vendor'],
    registers,
  })
  const spared = new Counter({
    name: 'haversack_proxy_billed_saved_total',
    help: 'What requests cost less than as they came, in uncached input tokens',
    labelNames: ['vendor'],
    registers,
  })
  const lost = new Counter({
    name: 'haversack_proxy_billed_lost_total',
    help: 'What requests cost more than as they came, in uncached input tokens',
    labelNames: ['vendor'],
    registers,
  })
  return {
    unrecorded: vendor => unrecorded.inc({ vendor }),
    exchange: (vendor, outcome) => exchanges.inc({ vendor, outcome }),
    rewrite(vendor, rewrite) {
      texts.inc({ vendor, result: 'rewritten' }, rewrite.rewritten)
      texts.inc({ vendor, result: 'kept' }, rewrite.texts - rewrite.rewritten)
      const { tokens_saved, tokens_referred: dedup = 0, tokens_elided: omission = 0 } = rewrite
      saved.inc({ vendor, by: 'dedup' }, dedup)
      saved.inc({ vendor, by: 'omission' }, omission)
      saved.inc({ vendor, by: 'encoder' }, tokens_saved - dedup - omission)
      changes.inc({ vendor }, rewrite.prefix_changed === true ? 1 : 0)
    },
    untouched: (vendor, reason) => untouched.inc({ vendor, reason }),
    account(vendor, { without_usage, usage, billed, without }) {
      if (without_usage > 0) silent.inc({ vendor })
      const { cache_write, cache_write_long, ...others } = usage
      const kinds = { ...others, cache_write: cache_write + cache_write_long }
      for (const [kind, count] of Object.entries(kinds)) tokens.inc({ vendor, kind }, count)
      spared.inc({ vendor }, Math.max(0, without - billed))
      lost.inc({ vendor }, Math.max(0, billed - without))
    },
  }
}
