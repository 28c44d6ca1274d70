/**
 * What strategies know of an item, whatever kind of content it is from. Facts that the content does
 * not state are absent.
 */
export interface ItemFacts {
  /** Tokens of the whole item, about. */
  readonly tokens: number
  /** Path of the file that it is about. */
  readonly path?: string
  /** Whether a discussion is settled. */
  readonly resolved?: boolean
  /** When it last changed, in Unix milliseconds. */
  readonly date?: number
  /** Comments, reactions, votes: how much it moves people. */
  readonly activity?: number
  /** Whether it reports an error. */
  readonly isError?: boolean
}
