import { READING_LEVELS } from '../../src/core/reading/constructs.ts'
import { createReading } from '../../src/core/reading/price.ts'
import { runTermsOf } from '../../src/core/sessions/lines/plan-lines.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import { createPlayer, type Played, type PlayOptions } from './player.ts'
import type { ContextResult } from './recording.ts'
import type { Table } from './table.ts'

/** Tools in the table by tool: those with the most tokens. */
const TOOLS = 16

type Sessions = ReadonlyMap<string, readonly ContextResult[]>

type Sum = { -readonly [K in keyof Played]: Played[K] }

/** What references save: by source, by tool, and under other rules. */
export function measureSavings(sessions: Sessions, counter: TokenCounter): readonly Table[] {
  const rules = { counter, withArguments: true, heedCompaction: true }
  const sources = playAll(sessions, rules, (_, source) => source)
  const tools = playAll(sessions, rules, ({ tool }) => tool)
  const largest = [...tools].sort(([, a], [, b]) => b.tokens - a.tokens).slice(0, TOOLS)
  const variants: readonly (readonly [string, PlayOptions])[] = [
    ['results and arguments, within a compaction', rules],
    ['results only', { ...rules, withArguments: false }],
    [
      'results only, compactions ignored',
      { ...rules, withArguments: false, heedCompaction: false },
    ],
    ...READING_LEVELS.map(
      level =>
        [`in ${level} texts`, { ...rules, terms: runTermsOf(createReading(level)) }] as const,
    ),
  ]
  const totals = variants.map(
    ([name, options]) => [name, total(playAll(sessions, options, () => 'all'))] as const,
  )
  return [
    { title: 'By source', head: HEAD, rows: rowsOf([...sources, ['all', total(sources)]]) },
    { title: 'By tool', head: HEAD, rows: rowsOf(largest) },
    { title: 'Under other rules', head: HEAD, rows: rowsOf(totals) },
  ]
}

const HEAD = ['', 'tokens', 'exact %', 'near %', 'lines %', 'all %', 'line references']

function playAll(
  sessions: Sessions,
  options: PlayOptions,
  groupOf: (result: ContextResult, source: string) => string,
): Map<string, Sum> {
  const groups = new Map<string, Sum>()
  const play = createPlayer(options)
  for (const [source, results] of sessions) {
    for (const result of results) {
      const played = play(result)
      const group = groupOf(result, source)
      const sum = groups.get(group) ?? emptySum()
      groups.set(group, sum)
      for (const key of Object.keys(sum) as (keyof Sum)[]) sum[key] += played[key]
    }
  }
  return groups
}

function total(groups: ReadonlyMap<string, Sum>): Sum {
  const all = emptySum()
  for (const sum of groups.values()) {
    for (const key of Object.keys(all) as (keyof Sum)[]) all[key] += sum[key]
  }
  return all
}

function emptySum(): Sum {
  return { tokens: 0, exact: 0, near: 0, lines: 0, references: 0 }
}

function rowsOf(sums: readonly (readonly [string, Sum])[]): readonly (readonly string[])[] {
  return sums.map(([name, { tokens, exact, near, lines, references }]) => {
    const share = (saved: number) => ((100 * saved) / tokens).toFixed(2)
    const shares = [exact, near, lines, exact + near + lines].map(share)
    return [name, tokens.toLocaleString('en'), ...shares, references.toLocaleString('en')]
  })
}
