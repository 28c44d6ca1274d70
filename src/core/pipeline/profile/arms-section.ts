import { z } from 'zod'

/** A share of units or results; `nan` is none. */
const share = z.number().min(0).max(1)

/** What stays untouched so that effects can be measured; see `docs/guide/prove-it.md`. */
export const armsSection = z.strictObject({
  /** Share of sessions that proxies forward untouched. */
  holdout: share.default(0),
  /** Share of results that stay whole although they would be elided. */
  explore: share.default(0),
})
