/** A text and its price. */
export interface Piece {
  readonly text: string
  readonly tokens: number
  /** Tokens that the style adds when ways to write are compared. */
  readonly surcharge: number
}

/** What ways to write are compared by. */
export function priceOf({ tokens, surcharge }: Piece): number {
  return tokens + surcharge
}
