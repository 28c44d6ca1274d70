import { z } from 'zod'

/**
 * `hold`: what was sent before is repeated, and nothing new is rewritten. `false`: everything
 * leaves byte for byte.
 */
const mode = z.union([z.boolean(), z.literal('hold')], 'must be true, false or "hold"')

/** Section `compression`: the switch for incidents. */
export const compressionSchema = z
  .strictObject({
    enabled: mode.default(true),
    /** Instead of that, by tenant. */
    tenants: z.record(z.string(), z.strictObject({ enabled: mode })).default({}),
  })
  .prefault({})

/** Whether the results of a tenant are rewritten now. */
export function compressionOf(
  { enabled, tenants }: z.output<typeof compressionSchema>,
  tenant: string,
): z.output<typeof mode> {
  return Object.hasOwn(tenants, tenant) ? (tenants[tenant]?.enabled ?? enabled) : enabled
}
