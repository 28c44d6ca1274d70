import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')

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

  it('are those of the results file where elision is explained', () => {
    const [eliding, not] = [figures['redeem']!, figures['pauses']!].map(({ saved }) =>
      percent(saved),
    )
    expect(read('docs/reference/elision.md')).toContain(`${eliding} instead of ${not} % of the`)
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

const results = (name: string) => read(`bench/results/${name}.md`)

/** The cells behind the first one of the first row of a table that begins so. */
function row(table: string, ...first: readonly string[]): readonly string[] {
  const start = `| ${first.join(' | ')} |`
  const line = table.split('\n').find(each => each.startsWith(start))
  if (line === undefined) throw new Error(`no row ${start}`)
  return line
    .slice(start.length, -1)
    .split('|')
    .map(cell => cell.trim())
}

const one = (cell: string | undefined) => Number(cell).toFixed(1)
/** A share with one decimal, as pages write it. */
const share = (cell: string | undefined) => `${one(cell?.replace(' %', ''))} %`

const PROXIES = ['Haversack, passing', 'Haversack, packing', '@portkey-ai/gateway 1.15.2']
const GATEWAYS = ['Haversack', "the SDK's relay", 'mcp-proxy 6.7.19']

describe('figures of other benches', () => {
  const replay = results('replay')
  const formats = results('formats')
  const ours = results('results')
  const at = (budget: string) => row(ours, `${budget} %`)
  const cost = (setting: string) => share(row(formats, `\`${setting}\``)[1])
  const conversations = ['each by itself', 'references'].map(name => row(ours, name)[2])
  const compact = row(ours, 'references, and `compact` views from 20,000')[2]

  it('are those of the results file in each row of speed.md', () => {
    const speed = results('speed')
    const tables = [
      [/^\| (\d+ KB) \| (\w+) \|.*$/gm, PROXIES],
      [/^\| (\d+ KB) \| \d.*$/gm, GATEWAYS],
    ] as const
    for (const [pattern, ways] of tables) {
      const rows = [...read('docs/guide/speed.md').matchAll(pattern)]
      expect(rows.length).toBeGreaterThan(2)
      for (const [line, body, kind] of rows) {
        const added = ways.map(way => one(row(speed, body!, kind ?? 'tool', way)[2]))
        expect(line).toBe(`| ${[body, kind, ...added].filter(Boolean).join(' | ')} |`)
      }
    }
  })

  it.each<[page: string, says: () => readonly string[]]>([
    [
      'README.md',
      () => {
        const [, restored, all] = /^all .* (\d+)\/(\d+)$/m.exec(replay)!
        const [, verified] = /^Hints: (\d+) verified, 0 failed\.$/m.exec(replay)!
        const count = (text: string | undefined) => Number(text).toLocaleString('en-US')
        const hints = count(verified)
        return [`${count(restored)} of ${count(all)}; ${hints} of ${hints}`]
      },
    ],
    [
      'README.md',
      () => {
        const shapes = [...results('turns').matchAll(/^\| \w+ \| all \|.*$/gm)].map(([line]) =>
          line.split('|').map(cell => Number(cell.replaceAll(',', ''))),
        )
        const sum = (column: number) => shapes.reduce((total, cells) => total + cells[column]!, 0)
        return [`${sum(6)} of ${sum(4).toLocaleString('en-US')}`]
      },
    ],
    [
      'README.md',
      () => {
        const peers = [...formats.matchAll(/^\| (TOON|TSON|TRON).*? \d\S* \| ([\d,]+) \|/gm)]
        const tokens = peers.map(([, , text]) => text!)
        const best = tokens.toSorted((a, b) => number(a) - number(b))[0]
        return [`${tokens[0]}, ${best}, ${row(formats, 'ours')[0]}`]
      },
    ],
    [
      'README.md',
      () => {
        const added = (way: string) => one(row(results('speed'), '100 KB', 'growing', way)[2])
        const peer = added('@portkey-ai/gateway 1.15.2')
        return [`${added('Haversack, passing')}; ${added('Haversack, packing')}; ${peer} ms`]
      },
    ],
    [
      'docs/reference/formats.md',
      () => {
        const cells = row(formats, 'toon-suite')
        const [json, toon, own] = [cells[1], cells[2], cells.at(-2)]
        return [`${own} tokens (o200k_base), TOON ${toon}, compact JSON ${json}.`]
      },
    ],
    [
      'docs/reference/budget.md',
      () => [
        `At 20 % ${at('20')[1]} of the value is kept, by the other one ${at('20')[2]};`,
        `at 40 % ${at('40')[1]?.replace(' %', '')} and ${at('40')[2]}.`,
      ],
    ],
    [
      'docs/guide/sessions.md',
      () => [`${conversations[1]} are saved with references, and ${conversations[0]} if each`],
    ],
    [
      'docs/guide/gateways.md',
      () => [`saves ${conversations[1]} of the tokens instead of ${conversations[0]} `],
    ],
    ['docs/guide/views.md', () => [`saves ${compact} instead of ${conversations[1]}`]],
    [
      'docs/reference/configuration.md',
      () => [
        `\`inline_json_cost = 2.2\` ${cost('inline_json_cost = 2.2')},`,
        `\`max_inline_nested = 512\` ${cost('max_inline_nested = 512')},`,
        `lists from 4 items on ${cost('array_of_objects_min_items = 4')},`,
        `no \`tree\` ${cost('formats_enabled without tree')} `,
      ],
    ],
  ])('are those of the results files in %s', (page, says) => {
    const text = read(page).replace(/\s+/g, ' ')
    for (const figure of says()) expect(text).toContain(figure)
  })
})

/** A share or a time with a decimal: nobody sets one, so it was measured. */
const MEASURED = /\d\.\d+ (?:%|ms|µs)/
/** A command that measures, or what it wrote. */
const SOURCE = /npm run bench|haversack (?:bench|replay|tune|discover)|bench\/(?:results|README)/

describe('a measured figure', () => {
  const pages = ['README.md', 'SECURITY.md', ...globSync('docs/*/*.md', { cwd: root })]

  it.each(pages)('stands in a section of %s that names its command or results', page => {
    const sections = read(page).split(/^(?=#{1,4} )/m)
    const unfounded = sections.flatMap(each => {
      // What a command prints is made up.
      const figure = MEASURED.exec(each.replace(/^```.*?^```/gms, ''))
      return figure === null || SOURCE.test(each) ? [] : [[each.split('\n')[0], figure[0]]]
    })
    expect(unfounded).toEqual([])
  })
})

function number(text: string): number {
  return Number(text.replaceAll(',', ''))
}
