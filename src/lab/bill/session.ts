/** One recorded result of a tool. */
export interface BillResult {
  readonly tool: string
  readonly args: unknown
  readonly text: string
  readonly isError: boolean
}

/** One call of the provider's API, as its own `usage` counts it. */
export interface BillCall {
  /** Unix seconds of its start and end. */
  readonly ts: number
  readonly end: number
  readonly model: string
  /** Tokens: without a cache, read from it, written to it, and of those for an hour. */
  readonly fresh: number
  readonly read: number
  readonly write: number
  readonly hour: number
  readonly output: number
  /** What it said and thought, and its calls; what the user said before it: o200k tokens. */
  readonly said: number
  readonly calls: number
  readonly user: number
  readonly userTexts: number
  /** Whether the context was compacted before it. */
  readonly compacted: boolean
  /** Results that came with it. */
  readonly results: readonly BillResult[]
}

export interface BillSession {
  readonly name: string
  readonly calls: readonly BillCall[]
}
