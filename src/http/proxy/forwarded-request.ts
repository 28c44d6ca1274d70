import type { RewriteReport } from '../../core/contract/operation-result.ts'

/** What a proxy did for a request, or for all messages of a connection, without its content. */
export interface ForwardedRequest {
  readonly model?: string | undefined
  /** Tool results that were new, and their tokens from the client and to the vendor. */
  readonly results: number
  readonly before: number
  readonly after: number
  /** Tokens that prompts were spared, a history counted in each request again. */
  readonly saved: number
  /** The status of the vendor's answer; absent: it gave none. */
  readonly upstreamStatus?: number | undefined
}

const NOTHING: ForwardedRequest = { results: 0, before: 0, after: 0, saved: 0 }

/**
 * Adds a request to what was forwarded before over the same connection.
 * @param model the one that the path names
 */
export function withForwarded(
  earlier: ForwardedRequest = NOTHING,
  report: RewriteReport | undefined,
  model?: string,
): ForwardedRequest {
  const { count = 0, before = 0, after = 0 } = report?.fresh ?? {}
  return {
    model: report?.model ?? model ?? earlier.model,
    results: earlier.results + count,
    before: earlier.before + before,
    after: earlier.after + after,
    saved: earlier.saved + (report?.tokens_saved ?? 0),
  }
}
