/** What steps of clearing leave, and what they cost. */
export interface ClearingTerms {
  /** Results that stay, the newest ones. */
  readonly keepNewest: number
  /** The same when the provider has forgotten the conversation, so that a step costs nothing. */
  readonly keepAtPauses: number
  /** Prices of a token, in tokens that no cache has. */
  readonly cachedRead: number
  readonly cacheWrite: number
}

/** The prices are Anthropic's. */
export const CLEARING_TERMS: ClearingTerms = {
  keepNewest: 24,
  keepAtPauses: 8,
  cachedRead: 0.1,
  cacheWrite: 1.25,
}
