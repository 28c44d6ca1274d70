/** What a provider's cache depends on in one request: digests and counts, never a text. */
export interface PromptPrint {
  /** When the request was read, in milliseconds since the epoch. */
  readonly at: number
  /** How long its shortest cache entry lives, in milliseconds. */
  readonly life_ms: number
  /** The kind of agent: a digest of the names of its tools. */
  readonly kind: number
  /** How often the model had spoken. */
  readonly turns: number
  readonly model: number
  readonly tools: number
  readonly system: number
  readonly first_message: number
  /** Reasoning, effort, `tool_choice`, the form of the answer: as they are sent. */
  readonly settings: number
  /** Names the message after the opening, which no other conversation has; `null`: none came. */
  readonly next: string | null
  /** A sum over the messages after the opening, up to each. */
  readonly history: readonly number[]
  /** A sum over what is sent for the results, up to each; absent: as the client sent them. */
  readonly sent?: readonly number[]
  /** Content blocks before each breakpoint of the conversation; absent: the API has none. */
  readonly breakpoints?: readonly number[]
}
