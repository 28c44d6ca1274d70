import { formatLabel } from '../../core/formats/text/text-notation.ts'
import type { Played } from './player.ts'

/** Sums over results that have something in common. */
export interface Sums {
  results: number
  raw_bytes: number
  tokens_in: number
  tokens_out: number
  /** Results whose answer decoded to the very input. */
  restored: number
}

/** By which a replay is summed up. */
export const DIMENSIONS = ['tool', 'shape', 'layer', 'format'] as const
export type Dimension = (typeof DIMENSIONS)[number]

export interface Tally {
  readonly total: Sums
  readonly by: Readonly<Record<Dimension, ReadonlyMap<string, Sums>>>
  /** Results that got no answer, and so are in none of the sums. */
  failed: number
  add(played: Played): void
}

export function createTally(): Tally {
  const total = zero()
  const by = { tool: group(), shape: group(), layer: group(), format: group() }
  return {
    total,
    by,
    failed: 0,
    add(played) {
      const { tool, answer } = played
      accumulate(total, played)
      const keys = {
        tool,
        shape: answer.shape,
        layer: answer.layer,
        format: formatLabel(answer.format),
      }
      for (const dimension of DIMENSIONS) {
        const sums = by[dimension].get(keys[dimension]) ?? zero()
        by[dimension].set(keys[dimension], sums)
        accumulate(sums, played)
      }
    },
  }
}

function group(): Map<string, Sums> {
  return new Map()
}

function zero(): Sums {
  return { results: 0, raw_bytes: 0, tokens_in: 0, tokens_out: 0, restored: 0 }
}

function accumulate(sums: Sums, { answer, restored }: Played): void {
  sums.results++
  sums.raw_bytes += answer.bytes.raw
  sums.tokens_in += answer.tokens.baseline
  sums.tokens_out += answer.tokens.final
  if (restored) sums.restored++
}
