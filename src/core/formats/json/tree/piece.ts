/** A text and its price. */
export interface Piece {
  readonly text: string
  readonly tokens: number
  /** What the style adds to the tokens where ways to write are compared. */
  readonly surcharge: number
}

/** What ways to write are compared by. */
export function priceOf({ tokens, surcharge }: Piece): number {
  return tokens + surcharge
}
