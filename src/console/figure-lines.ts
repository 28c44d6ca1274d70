import type { BeforeAfter, SavingsFigures } from '../book/bill/figures.ts'

/** The three figures of a report; `null` if what it reads does not have one. */
export interface ReportFigures {
  readonly results: SavingsFigures['results']
  readonly requests: SavingsFigures['requests'] | null
  readonly billed: SavingsFigures['billed']
}

/** The figures of results that were recorded without their requests. */
export function resultFigures(results: SavingsFigures['results']): ReportFigures {
  const { count, before, after } = results
  const rounded = { count: Math.round(count), before: Math.round(before), after: Math.round(after) }
  return { results: rounded, requests: null, billed: null }
}

/** The three figures, a line each, under the names that every report has. */
export function figureLines({ results, requests, billed }: ReportFigures): readonly string[] {
  const unknown = requests === null ? NO_REQUESTS : NO_USAGE
  const ofResults = `results:  ${change(results)} in ${number(results.count)} tool results, each once`
  if (requests === null) return [ofResults, `requests: ${unknown}`, `billed:   ${unknown}`]
  const [ofRequests, ofBills] = [requests, billed].map(each =>
    billed === null || each === null ? `${unknown},` : change(each),
  )
  return [
    ofResults,
    `requests: ${ofRequests} in ${number(requests.count)} model requests`,
    `billed:   ${ofBills} at the price of uncached input`,
  ]
}

const NO_USAGE = 'unknown, since no answer reported its usage'
const NO_REQUESTS = 'unknown, since no model requests were read'

/** `1,000 → 800 tokens (−20.0 %)` */
function change({ before, after }: BeforeAfter): string {
  const share = before === 0 ? 0 : ((after - before) / before) * 100
  const sign = share > 0 ? '+' : share < 0 ? '−' : ''
  return `${number(before)} → ${number(after)} tokens (${sign}${Math.abs(share).toFixed(1)} %)`
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
