import type { TokenCounter } from '../../tokens/counter.ts'

/** A text and its price in tokens. */
export interface Piece {
  readonly text: string
  readonly tokens: number
}

/** Tokens of a text: exact, or guessed from its length where no counter is given. */
export interface Pricer {
  tokens(text: string): number
  piece(text: string): Piece
}

const CHARS_PER_TOKEN = 3.5

export function createPricer(counter: TokenCounter | undefined): Pricer {
  const tokens =
    counter === undefined
      ? (text: string) => text.length / CHARS_PER_TOKEN
      : (text: string) => counter.count(text)
  return { tokens, piece: text => ({ text, tokens: tokens(text) }) }
}

/** The cheapest; of equal ones the first. */
export function cheapest(first: Piece, ...others: readonly (Piece | null)[]): Piece {
  let best = first
  for (const piece of others) if (piece !== null && piece.tokens < best.tokens) best = piece
  return best
}
