import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GainFigures, Part } from '../../../../src/book/rows/gain-figures.ts'
import { DIMENSIONS } from '../../../../src/book/rows/gain-figures.ts'
import { captureCli } from '../../../support/capture.ts'
import { ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf, turnOf } from '../../../support/ledger/rows.ts'
import { runs } from '../../../support/runs.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'haversack-gain-'))
  vi.stubEnv('HAVERSACK_DATA_DIR', folder)
  vi.stubEnv('HAVERSACK_URL', '')
  vi.stubEnv('HAVERSACK_CONFIG', '')
  vi.stubEnv('LANG', 'C.UTF-8')
  vi.stubEnv('LC_ALL', '')
  vi.stubEnv('NO_COLOR', '')
  vi.stubEnv('FORCE_COLOR', '')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const ESCAPE = '\u001b'
const USD = 'USD'
/** No service is there. */
const ALONE = ['--url', 'http://127.0.0.1:9']
const gain = async (...argv: string[]) => (await captureCli('gain', ...argv, ...ALONE)).stdout

type Ledger = ReturnType<typeof ownLedger>['ledger']

function bill(ledger: Ledger, billed: number, without: number, more: object = {}) {
  const money = { currency: USD, billed: billed / 1e3, without: without / 1e3 }
  const tools = [['Read', without - billed]] as const
  ledger.turn(turnOf({ billed, without, model: 'm', tools, money, ...more }))
}

describe('haversack gain', () => {
  it('says what to do if nothing was recorded', async () => {
    expect(await gain()).toContain('haversack run -- claude')
  })

  it('shows what was saved, and tokens alone of ways in without a bill', async () => {
    const { ledger } = ownLedger({ folder })
    bill(ledger, 1_000, 1_500, { origin: { project: 'atlas', agent: 'claude' } })
    ledger.result(resultOf('local', { tool: 'Read', before: 900, encoded: 400 }, OF_ATLAS))
    ledger.result(
      resultOf('local', { tool: 'Bash' }, { source: 'hook', origin: { project: 'web' } }),
    )
    await ledger.flush()
    const screen = await gain()
    expect(screen).toMatch(/saved +\$0\.50 {2}of \$1\.50 \(−33\.3 %\), 1 request, prices of/)
    expect(screen).toMatch(/results +−44\.0 % {2}1,000 → 560 tokens, 2 results, each once/)
    expect(screen).toContain('lost       0  every result decodes; 0 caches broken')
    expect(screen).toMatch(/atlas +900 +500 +−44\.4 % +\$0\.50\n/)
    expect(screen).toMatch(/web +100 +60 +−40\.0 % +–\n/)
    expect(await gain('--project', 'web')).toMatch(/saved +– {2}no bill is known/)
    const { by } = JSON.parse(await gain('--json')) as GainFigures
    expect(by.tool.map(({ name }) => name)).toEqual(['Read', 'Bash', ''])
    const [week] = by.week
    // A Monday.
    expect(new Date(week!.name).getUTCDay()).toBe(1)
  })

  it('shows a loss in red and with a sign', async () => {
    const { ledger } = ownLedger({ folder })
    const money = { currency: USD, billed: 2, without: 1.6 }
    ledger.turn(turnOf({ billed: 2_000, without: 1_600, model: 'm', prefix_changed: true, money }))
    await ledger.flush()
    vi.stubEnv('FORCE_COLOR', '1')
    const colored = await gain()
    const red = (text: string) => `${ESCAPE}[31m${text}${ESCAPE}[0m`
    expect(colored).toContain(red('−$0.40'))
    expect(colored).toContain(red('−1'))
    expect(colored).toContain(red('−'))
    expect(colored).toContain('(+25.0 %)')
    vi.stubEnv('NO_COLOR', '1')
    expect(await gain()).not.toContain(ESCAPE)
    vi.stubEnv('LANG', 'C')
    const plain = await gain()
    expect(plain).toContain('-$0.40')
    expect(plain).toMatch(/^[\n -~]*$/)
    // Days without anything look like no bar.
    expect(plain).toMatch(/by day {5}\.{29}- /)
  })

  it('names models without a price, whose bill is in no sum of money', async () => {
    const { ledger } = ownLedger({ folder })
    bill(ledger, 1_000, 1_500)
    ledger.turn(turnOf({ model: 'unheard-of', billed: 9e6, without: 9.1e6 }))
    await ledger.flush()
    const screen = await gain()
    expect(screen).toContain('of $1.50 (−33.3 %)')
    expect(screen).toMatch(/No price is known of unheard-of/)
    expect(await gain('--by', 'model')).toMatch(/unheard-of +– +– +– +–\n/)
  })

  it.each([60, 80, 120])('fits %i columns, whatever names it has', async columns => {
    const { ledger } = ownLedger({ folder })
    const names = [`${ESCAPE}[31mred\r\n`, 'x'.repeat(300), '測試'.repeat(40), '=cmd()', '<script>']
    for (const name of names) {
      const origin = { project: name, agent: name }
      bill(ledger, 1e12, 2e12, { origin })
      ledger.result(resultOf('local', { tool: name, before: 1e9 }, { source: 'openai', origin }))
    }
    await ledger.flush()
    vi.stubEnv('COLUMNS', String(columns))
    const screen = `${await gain()}${await gain('--by', 'tool', '--days', '400')}`
    expect(screen.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
    for (const line of screen.split('\n')) expect([...line].length).toBeLessThanOrEqual(columns)
    expect(await gain('--csv', '--by', 'project')).toContain("'=cmd(),")
  })

  it('has parts that add up to the whole, in tokens and in money', async () => {
    const name = fc.constantFrom('', 'a', 'b', 'c')
    const row = fc.record({
      project: name,
      agent: name,
      tool: name,
      model: name,
      tokens: fc.nat(99),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), async rows => {
        rmSync(folder, { recursive: true })
        const { ledger } = ownLedger({ folder })
        for (const { project, agent, tool, model, tokens } of rows) {
          const origin = { project, agent }
          const about = { source: 'anthropic', origin, model }
          ledger.result(resultOf('local', { tool, before: tokens, encoded: tokens >> 1 }, about))
          const money = model === '' ? null : { currency: USD, billed: tokens, without: 2 * tokens }
          const tools = [[tool, tokens / 2]] as const
          const sums = { billed: tokens, without: 2 * tokens }
          ledger.turn(turnOf({ ...sums, model, origin, tools, money }))
        }
        await ledger.close()
        const { total, by } = JSON.parse(await gain('--json')) as GainFigures
        expect(total.requests).toBe(rows.length)
        for (const dimension of DIMENSIONS) {
          for (const of of SUMMED) {
            const sum = by[dimension].reduce((all, part) => all + of(part), 0)
            expect(sum, dimension).toBeCloseTo(of(total), 6)
          }
        }
      }),
      { numRuns: runs(10) },
    )
  })

  it('takes only days and tables that there are', async () => {
    expect((await captureCli('gain', '--days', '0')).code).toBe(2)
    const { code, stderr } = await captureCli('gain', '--by', 'colour')
    expect([code, stderr]).toEqual([2, expect.stringContaining('takes day, week, month')])
  })
})

const OF_ATLAS = { source: 'anthropic', origin: { project: 'atlas', agent: 'claude' } }

const SUMMED: readonly ((part: Part) => number)[] = [
  part => part.results,
  part => part.before,
  part => part.after,
  part => part.requests,
  part => part.bill?.billed ?? 0,
  part => part.bill?.without ?? 0,
  part => part.money?.billed ?? 0,
  part => part.money?.without ?? 0,
]
