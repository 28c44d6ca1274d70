import type { LookupRequest, LookupResults } from '../core/contract/lookup.ts'
import type { Authority } from './job.ts'

/** The authority's answers, or `null` if it gave none. */
export async function ask(
  authority: Authority,
  lookups: readonly (LookupRequest | null)[],
): Promise<LookupResults | null> {
  try {
    const resolutions = await authority.resolve(lookups)
    return resolutions.length === lookups.length ? resolutions : null
  } catch {
    // It lives in another process: that it is lost is no bug of ours.
    return null
  }
}

/** Bytes of the inputs that represent contents: work, as if they had come in the body. */
export function inputBytes(resolutions: LookupResults): number {
  return resolutions.reduce((sum, resolution) => sum + (resolution?.input?.bytes.length ?? 0), 0)
}
