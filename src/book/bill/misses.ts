import { z } from 'zod'
import { MISS_REASONS } from '../../core/contract/savings.ts'

export type MissReason = (typeof MISS_REASONS)[number]

const miss = z.object({
  count: z.int().nonnegative(),
  /** That were cached and not read. */
  tokens: z.int().nonnegative(),
  /** Above reading them, in uncached input tokens. */
  cost: z.number(),
})

/** By reason; ledgers of earlier versions have none. */
export const missesSchema = z.partialRecord(z.enum(MISS_REASONS), miss)

export type Misses = Readonly<z.output<typeof missesSchema>>

export const NO_MISSES: Misses = {}

export function addMisses(a: Misses, b: Misses): Misses {
  const sum = { ...a }
  for (const reason of MISS_REASONS) {
    const more = b[reason]
    if (more === undefined) continue
    const { count, tokens, cost } = sum[reason] ?? { count: 0, tokens: 0, cost: 0 }
    sum[reason] = {
      count: count + more.count,
      tokens: tokens + more.tokens,
      cost: cost + more.cost,
    }
  }
  return sum
}

/** The reasons that there were, the dearest first. */
export function missRows(misses: Misses) {
  return MISS_REASONS.flatMap(reason => {
    const sum = misses[reason]
    return sum === undefined ? [] : [{ reason, ...sum, cost: Number(sum.cost.toFixed(1)) }]
  }).sort((a, b) => b.cost - a.cost)
}

/** Over all reasons. */
export function sumOfMisses(misses: Misses): z.output<typeof miss> {
  const sum = { count: 0, tokens: 0, cost: 0 }
  for (const each of Object.values(misses)) {
    sum.count += each.count
    sum.tokens += each.tokens
    sum.cost += each.cost
  }
  return sum
}
