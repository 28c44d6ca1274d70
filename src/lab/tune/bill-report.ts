import { createProgress } from '../../console/progress.ts'
import { percent, table } from '../../console/table.ts'
import type { Bill } from '../bill/account.ts'
import type { LogsBill } from '../bill/bill-logs.ts'
import type { LogList } from '../logs/list-logs.ts'

const PARTS: readonly (readonly [keyof Bill, string])[] = [
  ['read', 'read from a cache'],
  ['write', 'written to a cache'],
  ['pause', 'written again after a pause'],
  ['miss', 'written again without one'],
  ['fresh', 'without a cache'],
  ['output', 'output'],
]
const ARMS: readonly (readonly [keyof LogsBill['arms'], string])[] = [
  ['lossless', 'lossless'],
  ['clearing', 'lossless and clearing'],
  ['no_results', 'bound: no result at all'],
]

/** What logs were billed, as tables; empty if they have no `usage`. */
export function billTables(bill: LogsBill): string {
  const { sessions, calls, estimated, factors, direct, arms } = bill
  if (calls === 0) return ''
  const total = Object.values(direct).reduce((sum, each) => sum + each)
  const share = (part: number) => percent(part, 1)
  const count = (number: number) => number.toLocaleString('en-US')
  const stated = `${count(calls)} calls of ${count(sessions)} sessions, by the provider's usage`
  const guessed = estimated === 0 ? '' : `; the output of ${count(estimated)} is estimated`
  const parts = [
    `The bill: ${stated}${guessed}`,
    table(
      ['part', 'share'],
      PARTS.map(([bucket, what]) => [what, percent(direct[bucket], total)]),
    ),
    'What would have been saved of it, by what each proxied call would have cost',
    table(
      ['arm', 'saved', '95 % of sums over sessions', 'median session', 'sessions dearer', 'worst'],
      ARMS.map(([name, what]) => {
        const { saved, low, high, median, dearer, worst } = arms[name]
        const interval = `${share(low)} to ${share(high)}`
        return [what, share(saved), interval, share(median), dearer, share(worst)]
      }),
    ),
  ]
  const models = Object.entries(factors)
  if (models.length > 0) {
    const rows = models.map(([model, { factor, samples }]) => [model, factor.toFixed(2), samples])
    parts.push(table(['model', "provider's tokens for one of o200k", 'samples'], rows))
  }
  return `\n${parts.join('\n\n')}\n`
}

/** What the newest of these logs were billed, and would have been. */
export async function billOf(list: LogList): Promise<LogsBill> {
  const { billLogs, newestLogs } = await import('../bill/bill-logs.ts')
  const files = newestLogs(list.files)
  const progress = createProgress('bill', files.length)
  const bill = billLogs(files, () => progress.advance())
  progress.done()
  return bill
}
