import { freeBytes } from '../../core/base/byte-ranges.ts'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import type { UntouchedReason } from '../../observability/proxy-metrics.ts'
import type { Done } from '../../pool/job.ts'

/** What leaves for a body. */
export interface RewrittenBody {
  readonly body: Uint8Array
  /** The client's own body, if the vendor may refuse the other one; absent: it is not needed. */
  readonly own?: Uint8Array
  /** What was done to it. */
  readonly report?: RewriteReport
  /** Why it is the client's own body; absent if it was read. */
  readonly untouched?: UntouchedReason
  /**
   * Settles once the rewrites are recorded. Never rejects. The answer may not be complete before.
   */
  readonly recorded?: Promise<unknown>
  /** Frees the memory of `body`; called when it was sent and the rewrites are recorded. */
  readonly free?: () => void
}

/** What leaves in place of a body, which is not needed any more if that is another one. */
export function leaving(
  body: Uint8Array,
  result: Done,
  { levers = [] }: RewriteReport,
): Pick<RewrittenBody, 'body' | 'own' | 'free'> {
  if (result.body.length === 0) return { body, free: () => freeBytes(body) }
  const free = result.free && { free: result.free }
  // Its vendor may refuse what was made of it.
  if (levers.includes('defer')) return { body: result.body, own: body, ...free }
  freeBytes(body)
  return { body: result.body, ...free }
}
