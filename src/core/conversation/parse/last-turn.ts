import type { ScannedRequest } from './scan-request.ts'

/**
 * Returns the index of the first result that the last turn brought: from there on no message of a
 * model stands between results, or after them. If the shape of a request puts each result after its
 * own call, only the last one counts as new.
 */
export function newFrom({
  results,
  messages,
}: Pick<ScannedRequest, 'results' | 'messages'>): number {
  let from = results.length
  for (let next = messages.length; from > 0; from--) {
    const { message } = results[from - 1]!
    if (message < next - 1) break
    next = message
  }
  return from
}
