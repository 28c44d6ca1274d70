/** What a change would do, by the calls ahead that were recorded or played. */
export interface PlanEffect {
  readonly prefetches: number
  readonly used: number
  /** Tokens of results that the model did not ask for. */
  readonly unused_tokens: number
}

/** A change of calls ahead that rule R7 proposes. Applying it is the reader's decision. */
export interface PlanChange {
  readonly rule: 'R7'
  /** The path of a key, a part each. */
  readonly key: readonly string[]
  readonly to: boolean
  /** The figures that the rule decided by. */
  readonly evidence: Readonly<Record<string, number>>
  readonly before: PlanEffect
  readonly after: PlanEffect
}
