import type { PriceRule } from '../../core/conversation/usage/billing.ts'

/** Prices, and the name of the money that they are in. */
export interface PriceList {
  readonly currency: string
  /** Those that vendors publish. */
  readonly builtIn: readonly PriceRule[]
  /** Configured ones, which take precedence. */
  readonly prices: readonly PriceRule[]
}
