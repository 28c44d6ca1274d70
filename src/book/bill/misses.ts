import { z } from 'zod'
import { addFields } from '../../core/base/add-fields.ts'
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
const NO_MISS = { count: 0, tokens: 0, cost: 0 }

export function addMisses(a: Misses, b: Misses): Misses {
  const sum = { ...a }
  for (const reason of MISS_REASONS) {
    const more = b[reason]
    if (more !== undefined) sum[reason] = addFields(sum[reason] ?? NO_MISS, more)
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
  return Object.values(misses).reduce(addFields, NO_MISS)
}
