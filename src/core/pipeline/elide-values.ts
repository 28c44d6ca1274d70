import { STRATEGIES, type Worths } from '../reduce/budget/strategies.ts'
import { rankLists } from '../reduce/elide/rank-lists.ts'
import { BULK, CRITICAL } from '../reduce/elide/reducer.ts'
import { rankText } from '../reduce/elide/text-reducers.ts'
import type { LayerInput } from './layer.ts'
import { isRedeeming } from './profile/retrieving-tools.ts'

/**
 * Whether a result is an original that was retrieved: it is not elided again, or retrieving would
 * never end.
 * @param retrievingTools tools that return originals
 */
export function isRetrieved(
  { request: { mode, tool } }: LayerInput,
  retrievingTools: readonly string[],
): boolean {
  return mode === 'elide' && isRedeeming(tool, retrievingTools)
}

/** Factors by rank, so far apart that what is critical goes last wherever it stands. */
const FACTORS: readonly number[] = [1, 8, 128]

/**
 * Values for a budget by what the content shows of its parts, if the request's mode is `elide`:
 * failures and stack traces before structure, structure before the rest. Of a log the end has more
 * value unless the request or the configuration decides otherwise.
 */
export function contentWorths(input: LayerInput, worths: Worths): Worths {
  const { request, value, content } = input
  if (request.mode !== 'elide') return worths
  if (typeof value === 'object' && value !== null) {
    const lists = rankLists(value)
    return { ...worths, item: (list, index) => factorOf(lists.get(list)?.[index]) }
  }
  const ranked = rankText(content)
  if (ranked === null) return worths
  const { ranks, kind } = ranked
  const isOpen = worths.strategy === STRATEGIES.default && request.strategy === undefined
  const strategy = kind === 'log' && isOpen ? STRATEGIES.trailing : worths.strategy
  return { ...worths, strategy, line: index => factorOf(ranks[index]) }
}

function factorOf(rank: number | undefined = BULK): number {
  return FACTORS[rank] ?? FACTORS[CRITICAL]!
}
