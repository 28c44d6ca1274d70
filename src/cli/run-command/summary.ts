import { figureLines } from '../figure-lines.ts'
import type { Saved } from './own-service.ts'

/**
 * The three figures, a line each, and why nothing was saved if nothing was.
 * @param deciding the setting of the command that decides where its requests go; `null`: unknown
 */
export function summaryLines(
  { figures, untouched }: Saved,
  deciding: string | null = null,
): readonly string[] {
  if (figures.requests.count === 0) {
    const where = deciding ?? 'it may have its base URL from somewhere else'
    return [`no model request came. If the command made one: ${where}`]
  }
  const reason = whyNothing(figures, untouched)
  return [...figureLines(figures), ...(reason === null ? [] : [`nothing was saved: ${reason}`])]
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
