import type { RefusedRequest } from '../../book/bill/answered-request.ts'
import { figureLines } from '../../console/figure-lines.ts'
import type { Saved } from './own-service.ts'

/**
 * The three figures, a line each, what was not answered, and why nothing was saved if nothing was.
 * @param deciding the setting of the command that decides where its requests go; `null`: unknown
 */
export function summaryLines(
  { figures, untouched, refused, placed }: Saved,
  deciding: string | null = null,
): readonly string[] {
  const { count } = figures.requests
  const came = count + refused.length
  if (came === 0) {
    const where = deciding ?? 'it may have its base URL from somewhere else'
    return [`no model request came. If the command made one: ${where}`]
  }
  if (count === 0) return [`${requests(came)} came, none was answered: ${causes(refused)}`]
  const reason = whyNothing(figures, untouched)
  const unanswered = `${requests(refused.length)} more came without an answer: ${causes(refused)}`
  return [
    ...figureLines(figures),
    ...(placed === 0 ? [] : [placedLine(placed)]),
    ...(refused.length === 0 ? [] : [unanswered]),
    ...(reason === null ? [] : [`nothing was saved: ${reason}`]),
  ]
}

function placedLine(placed: number): string {
  return `cache:    ${requests(placed)} without a cache breakpoint got one (cache_life.place)`
}

/** Why requests were not answered, by how often. */
function causes(refused: readonly RefusedRequest[]): string {
  const counts = new Map<string, number>()
  for (const each of refused) {
    const cause = causeOf(each)
    counts.set(cause, (counts.get(cause) ?? 0) + 1)
  }
  const most = [...counts].sort(([, a], [, b]) => b - a)
  return most.map(([cause, count]) => `${number(count)} × ${cause}`).join(', ')
}

function causeOf({ host, status, error }: RefusedRequest): string {
  if (error === 'aborted') return 'ended by the command'
  if (error !== null) return `no answer from ${host} (${error})`
  return status === null ? `an error from ${host}` : `${status} from ${host}`
}

function requests(count: number): string {
  return count === 1 ? '1 model request' : `${number(count)} model requests`
}

function whyNothing(
  { results, requests }: Saved['figures'],
  untouched: Saved['untouched'],
): string | null {
  if (results.after < results.before || requests.after < requests.before) return null
  const reasons = Object.entries(untouched).filter(([, count]) => count > 0)
  if (reasons.length > 0) {
    const named = reasons.map(([reason, count]) => `${number(count)} ${reason}`)
    return `requests were left as they came (${named.join(', ')})`
  }
  return results.count === 0 ? 'no tool result came' : 'no tool result has a smaller form'
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
