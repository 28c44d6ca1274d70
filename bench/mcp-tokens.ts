import { percent } from '../src/console/table.ts'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { RETRIEVE_DEFINITION } from '../src/mcp/results/retrieve-tool.ts'
import { PROFILES, type ProfileName, shownBy } from './mcp/shown.ts'
import { recordedResults } from './support/corpus.ts'
import { machine } from './support/machine.ts'
import { publish, tableOf } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { benchSetup } from './support/worker-setup.ts'

/**
 * npm run bench -- mcp-tokens CORPUS [--write]
 *
 * Tokens of results as clients show them to their models, without and with the MCP gateway, by how
 * the client shows them: its lists from 1,000 tokens on, by source. Every text is decoded. No result
 * of the corpus may have more tokens than before. Ends with 1 otherwise.
 */
const options = readOptions({ corpus: REQUIRED, write: false })

const LEAST_TOKENS = 1_000
/** Objects that make a list. */
const LEAST_ITEMS = 3
/** Lossless against compact JSON. */
const TARGET = 0.3

const counters = createTokenCounters(benchSetup().vocabularies)
const context = { counters, maxDepth: 256, maxDecodedChars: 2 ** 24, keepsOriginals: true }
const { count } = counters.get('o200k_base')

interface Row {
  readonly source: string
  readonly profile: ProfileName
  readonly compact: number
  readonly before: number
  readonly after: number
}

/** An array of objects, or an object with one. */
function listIn(content: string): unknown {
  try {
    const value: unknown = JSON.parse(content)
    if (typeof value !== 'object' || value === null) return null
    return [value, ...Object.values(value)].some(isList) ? value : null
  } catch {
    return null
  }
}

function isList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length >= LEAST_ITEMS &&
    value.every(item => typeof item === 'object' && item !== null && !Array.isArray(item))
  )
}

const rows: Row[] = []
let results = 0
let bigger = 0
for (const { source, content } of recordedResults(options.corpus)) {
  const list = listIn(content)
  for (const profile of PROFILES) {
    const shown = shownBy(profile, content, context)
    if (shown === null) continue
    results++
    const [before, after] = [count(shown.before), count(shown.after)]
    if (after > before) bigger++
    if (list === null) continue
    const compact = profile === 'structured' ? before : count(JSON.stringify(list))
    if (compact >= LEAST_TOKENS) rows.push({ source, profile, compact, before, after })
  }
}

const sum = (of: readonly Row[], key: 'compact' | 'before' | 'after') =>
  of.reduce((all, row) => all + row[key], 0)
const saved = (of: readonly Row[], key: 'compact' | 'before') =>
  1 - sum(of, 'after') / Math.max(1, sum(of, key))
const tableRow = (source: string, profile: ProfileName, of: readonly Row[]) => ({
  ...{ 'lists of': source, shown: profile, n: of.length, 'compact JSON': sum(of, 'compact') },
  ...{ before: sum(of, 'before'), after: sum(of, 'after') },
  ...{ saved: percent(saved(of, 'before')), 'of compact JSON': percent(saved(of, 'compact')) },
})
const all = PROFILES.map(profile => rows.filter(row => row.profile === profile))
const table = all.flatMap((of, at) => [
  ...[...Map.groupBy(of, ({ source }) => source)].map(([source, its]) =>
    tableRow(source, PROFILES[at]!, its),
  ),
  tableRow('**all**', PROFILES[at]!, of),
])
publish(
  'mcp-tokens',
  [
    tableOf(table),
    `${results} results, each decoded to its source; ${bigger} with more tokens than before. The definition of haversack_retrieve, if it is offered, has ${count(RETRIEVE_DEFINITION.toString())} tokens a session. o200k_base; ${JSON.stringify(machine())}`,
  ],
  options.write,
)
const isReached = all.every(of => saved(of, 'compact') >= TARGET)
process.exitCode = bigger === 0 && isReached ? 0 : 1
