import { CONSTRUCTS, type Construct } from '../../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import { affixPair, jsonLinesPair, roomsPair, tablePair } from './json-pairs.ts'
import type { Pair } from './pair.ts'
import { referencePair } from './reference-pairs.ts'
import { TEXT_PAIRS } from './text-pairs.ts'

/** Pairs of each construct, at least. */
export const FEWEST_PAIRS = 40

/** The pairs of every construct, the same in every run. */
export function pairsOf(construct: Construct, count: number, counter: TokenCounter): Pair[] {
  return Array.from({ length: count }, (_, at) => pairOf(construct, 1000 + at, counter))
}

export function allPairs(count: number, counter: TokenCounter): readonly Pair[] {
  return CONSTRUCTS.flatMap(construct => pairsOf(construct, count, counter))
}

function pairOf(construct: Construct, seed: number, counter: TokenCounter): Pair {
  switch (construct) {
    case 'affix':
    case 'affix_number':
      return affixPair(construct, seed, counter)
    case 'shape':
    case 'brackets':
      return roomsPair(construct, seed, counter)
    case 'table':
      return tablePair(seed, counter)
    case 'json_lines':
      return jsonLinesPair(seed, counter)
    case 'reference':
    case 'short_reference':
    case 'tiny_reference':
      return referencePair(construct, seed)
    default:
      return TEXT_PAIRS[construct]!(seed, counter)
  }
}
