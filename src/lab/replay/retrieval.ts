import { parseHint } from '../../core/hints/hint-line.ts'
import { type PartQuery, parsePart } from '../../core/parts/parse-part.ts'
import { selectPart } from '../../core/parts/select-part.ts'
import type { TokenCounter } from '../../core/tokens/counter.ts'
import type { EncodeAnswer } from '../../index.ts'
import { CALL_TOKENS } from '../guard/bill.ts'

/** The tokens that fetching originals back would take. */
export interface Retrieval {
  /** Markers that are fetched, of all that were sent. */
  markers: number
  sent: number
  /** Tokens of what is fetched, and of the calls for it. */
  tokens: number
}

/** Default share of the markers that an agent is assumed to fetch. */
export const RETRIEVED_SHARE = 0.2

/**
 * Adds the tokens of fetching an answer's marker. The hash alone decides whether it is fetched, so
 * that each replay has the same result. The fetched text is the first place that the marker names,
 * or the whole if it names none.
 * @param share of the markers that are fetched, 0 to 1
 * @param text the original
 * @returns tokens of the fetched text; 0 if it is not fetched
 */
export function addRetrieval(
  sums: Retrieval,
  { elided, hints }: EncodeAnswer,
  text: string,
  { share, counter }: { readonly share: number; readonly counter: TokenCounter },
): number {
  const [marker] = elided
  if (marker === undefined) return 0
  sums.sent++
  if (Number.parseInt(marker.hash.slice(0, 8), 16) >= share * 2 ** 32) return 0
  sums.markers++
  const line = hints.find(({ family }) => family === 'elision')?.text ?? ''
  const tokens = counter.count(fetched(text, line))
  sums.tokens += CALL_TOKENS + tokens
  return tokens
}

function fetched(text: string, line: string): string {
  const hint = parseHint(line)
  const at =
    hint?.family === 'elision' ? hint.parts.find(part => part.at !== undefined)?.at : undefined
  const selector = at === undefined ? undefined : parsePart(queryOf(at))
  if (selector === undefined) return text
  const part = selectPart(Buffer.from(text), selector)
  return Buffer.from(part.content).toString()
}

function queryOf(at: string): PartQuery {
  return at.startsWith('$') ? { path: at } : { lines: at.replace('lines ', '') }
}
