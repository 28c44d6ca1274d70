/** What is known of the tools of one kind of agent. */
export interface AgentTools {
  /** A digest of the names of its tools. */
  readonly kind: number
  /** Those that its last conversations called; `null`: there were too few conversations. */
  readonly recent: readonly string[] | null
  /** Whether its client was seen to drop what a search at the provider found; absent: no. */
  readonly dropsSearches?: true
  /** Whether its provider refused a deferred tool; absent: no. */
  readonly isRefused?: true
}
