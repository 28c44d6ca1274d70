import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')

interface Saving {
  readonly saved: number
  readonly low: number
  readonly high: number
  readonly dearer: number
}
const figures: Record<string, Saving> = JSON.parse(read('bench/results/bill.json'))

const percent = (share: number) => (100 * share).toFixed(1).replace('-', '−')

describe('figures of the bill', () => {
  it('are those of the results file in README', () => {
    const readme = read('README.md')
    for (const arm of ['lossless', 'pauses']) {
      const { saved, low, high } = figures[arm]!
      expect(readme).toMatch(
        new RegExp(`${percent(saved)} %\\S* \\(${percent(low)}–${percent(high)}\\)`),
      )
    }
  })

  it.each([
    ['lossless', 'lossless'],
    ['pauses', 'lossless, and clearing after pauses'],
    ['clearing', 'lossless, and clearing'],
    ['redeem', 'lossless, clearing after pauses, and elision'],
    ['masking_each_turn', 'masking all but the newest 10 at each turn'],
    ['masking_in_steps', 'masking all but the newest 10, 20 at a time'],
    ['vendor_clearing', 'a provider’s own clearing (100,000 tokens, 3 stay)'],
  ])('are those of the results file in clearing.md: %s', (arm, name) => {
    const { saved, low, high, dearer } = figures[arm]!
    const range =
      low < 0 ? `${percent(low)} to ${percent(high)}` : `${percent(low)}–${percent(high)}`
    const row = `| ${name.replace('’', "'")} | ${percent(saved)} % | ${range} | ${dearer} |`
    expect(read('docs/guide/clearing.md')).toContain(row)
  })
})
