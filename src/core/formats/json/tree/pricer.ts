import type { TokenCounter } from '../../../tokens/counter.ts'
import { FEWEST_TOKENS, type TreeStyle } from './style.ts'
import { type Piece, priceOf, type Role, type Trace, type Ways } from './trace.ts'

/** Tokens of a text: exact, or estimated from its length if no counter is given. */
export interface Pricer {
  readonly style: TreeStyle
  /** Present if the caller wants to know how the text was chosen. */
  readonly trace?: Trace
  tokens(text: string): number
  piece(text: string): Piece
}

const CHARS_PER_TOKEN = 3.5

/**
 * Added to the price of brackets that are too long. It is above the tokens of any document, so that
 * as few of them as possible are taken. It is so small that a million of them are still counted
 * exactly.
 */
const TOO_LONG = 2 ** 32

export function createPricer(
  counter: TokenCounter | undefined,
  style: TreeStyle = FEWEST_TOKENS,
  trace?: Trace,
): Pricer {
  const tokens =
    counter === undefined
      ? (text: string) => text.length / CHARS_PER_TOKEN
      : (text: string) => counter.count(text)
  const piece = (text: string) => ({ text, tokens: tokens(text), surcharge: 0 })
  return { style, tokens, piece, ...(trace === undefined ? {} : { trace }) }
}

/** The price of brackets in addition to their tokens. */
export function bracketSurcharge(text: string, tokens: number, style: TreeStyle): number {
  return tokens * (style.bracketCost - 1) + excess(text, style)
}

/** The surcharge for brackets that are too long. */
export function excess(bracketed: string, { maxBracketChars }: TreeStyle): number {
  return bracketed.length > maxBracketChars ? TOO_LONG : 0
}

/** The cheapest of the ways, one of which there is; of equal ones the first. */
export function cheapest(role: Role, ways: Ways, { trace }: Pricer): Piece {
  let best: Piece | undefined
  // This runs for each container, and making a list of the ways would take as long as the
  // comparison.
  for (const way in ways) {
    const piece = ways[way as keyof Ways] ?? null
    if (piece !== null && (best === undefined || priceOf(piece) < priceOf(best))) best = piece
  }
  if (best === undefined) throw new Error('a container without a way to write it')
  trace?.decide(role, ways, best)
  return best
}
