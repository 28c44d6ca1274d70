import { Counter, type Registry } from 'prom-client'
import type { RewriteReport } from './core/operations/operation.ts'

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
    help: 'Tokens that forwarded requests were spared, counted anew in each turn',
    labelNames: ['vendor'],
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
  return {
    unrecorded: vendor => unrecorded.inc({ vendor }),
    exchange: (vendor, outcome) => exchanges.inc({ vendor, outcome }),
    rewrite(vendor, rewrite) {
      texts.inc({ vendor, result: 'rewritten' }, rewrite.rewritten)
      texts.inc({ vendor, result: 'kept' }, rewrite.texts - rewrite.rewritten)
      saved.inc({ vendor }, rewrite.tokens_saved)
      changes.inc({ vendor }, rewrite.prefix_changed === true ? 1 : 0)
    },
    untouched: (vendor, reason) => untouched.inc({ vendor, reason }),
  }
}
