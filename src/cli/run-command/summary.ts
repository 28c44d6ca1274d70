import type { BeforeAfter } from '../../savings/figures.ts'
import type { Saved } from './own-service.ts'

/** The three figures, a line each, and why nothing was saved if nothing was. */
export function summaryLines({ figures, untouched }: Saved): readonly string[] {
  const { results, requests, billed } = figures
  if (requests.count === 0) {
    return ['no model request: the command made none, or has its base URL from somewhere else']
  }
  const reason = whyNothing(figures, untouched)
  const [ofRequests, ofBills] = [requests, billed].map(each =>
    billed === null || each === null ? UNKNOWN : change(each),
  )
  return [
    `results:  ${change(results)} in ${number(results.count)} tool results, each once`,
    `requests: ${ofRequests} in ${number(requests.count)} model requests`,
    `billed:   ${ofBills} at the price of uncached input`,
    ...(reason === null ? [] : [`nothing was saved: ${reason}`]),
  ]
}

const UNKNOWN = 'unknown, since no answer reported its usage,'

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

/** `1,000 → 800 tokens (−20.0 %)` */
function change({ before, after }: BeforeAfter): string {
  const share = before === 0 ? 0 : ((after - before) / before) * 100
  const sign = share > 0 ? '+' : share < 0 ? '−' : ''
  return `${number(before)} → ${number(after)} tokens (${sign}${Math.abs(share).toFixed(1)} %)`
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
