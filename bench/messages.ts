/**
 * Tool results found and replaced in request bodies: `npm run bench -- messages [--corpus DIR]
 * [--json | --write]`. Histories of three sizes in the three shapes, of recorded steps or made-up
 * ones, against decoding and `JSON.parse`, in turn; then bodies that should be hard to read, at two
 * sizes. `--write` puts the tables into bench/README.md.
 */

import { type RouteName, scanRequest } from '../src/core/conversation/parse/scan-request.ts'
import { sharedMessages } from '../src/core/conversation/parse/shared-messages.ts'
import { literalOf, splice } from '../src/core/json/bytes/splice.ts'
import { historyOf, stepsOf } from './messages/histories.ts'
import { HOSTILE } from './messages/hostile.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { median } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'

const options = readOptions({ corpus: '', json: false, write: false })

const ROUTES: readonly RouteName[] = ['anthropic_messages', 'openai_chat', 'openai_responses']
const SIZES = { '100 KB': 100_000, '750 KB': 750_000, '10 MB': 10_000_000 }
const LIMITS = { maxBytes: 1 << 25, maxDepth: 512, maxValues: 500_000 }
const HOSTILE_BYTES = 1_000_000
const GROWTH = 8
/** Bytes that each way reads in all, whatever the size of a body. */
const BYTES_READ = 100_000_000

/**
 * Median milliseconds of each way, taken in turn; the first runs, in which code is compiled, do not
 * count.
 */
function timeInTurn(ways: Readonly<Record<string, () => unknown>>, runs: number) {
  const times = new Map(Object.keys(ways).map(name => [name, [] as number[]]))
  for (let i = -Math.min(runs, 20); i < runs; i++) {
    for (const [name, way] of Object.entries(ways)) {
      const start = performance.now()
      way()
      if (i >= 0) times.get(name)?.push(performance.now() - start)
    }
  }
  return new Map([...times].map(([name, each]) => [name, median(each)]))
}

function measureHistory(route: RouteName, size: number) {
  const { earlier, later } = historyOf(route, stepsOf(options.corpus), size)
  const before = scanRequest(earlier, route, LIMITS)!
  const scanned = scanRequest(later, route, LIMITS)!
  // Half of each text, as if it had been encoded; the last only, as in a turn whose history is
  // known.
  const shorter = scanned.results.map(each => {
    const text = each.text()
    const literal = literalOf(text.slice(0, text.length / 2))
    return { start: each.start, end: each.end, literal }
  })
  const utf8 = new TextDecoder()
  const runs = Math.ceil(BYTES_READ / later.length)
  const times = timeInTurn(
    {
      parse: () => JSON.parse(utf8.decode(later)),
      scan: () => scanRequest(later, route, LIMITS),
      shared: () => sharedMessages(before, scanned),
      texts: () => scanned.results.map(each => each.text().length),
      splice: () => splice(later, shorter),
    },
    runs,
  )
  return { route, bytes: later.length, results: scanned.results.length, runs, times }
}

function measureHostile(name: string) {
  const write = HOSTILE[name]!
  const small = Buffer.from(write(HOSTILE_BYTES))
  const large = Buffer.from(write(GROWTH * HOSTILE_BYTES))
  const isRead = scanRequest(small, 'anthropic_messages', LIMITS) !== null
  const times = timeInTurn(
    {
      small: () => scanRequest(small, 'anthropic_messages', LIMITS),
      large: () => scanRequest(large, 'anthropic_messages', LIMITS),
    },
    15,
  )
  return { name, isRead, small: times.get('small')!, large: times.get('large')! }
}

const histories = Object.values(SIZES).flatMap(size =>
  ROUTES.map(each => measureHistory(each, size)),
)
const hostile = Object.keys(HOSTILE).map(measureHostile)

if (options.json) {
  const rows = histories.map(each => ({ ...each, times: Object.fromEntries(each.times) }))
  console.log(JSON.stringify({ machine: machine(), histories: rows, hostile }))
} else {
  const report = [
    `${Object.values(machine()).join(', ')}; ${options.corpus === '' ? 'made-up' : 'recorded'} steps; medians, milliseconds.`,
    historiesTable(),
    `The same kinds of hostile bodies at 1 MB and at ${GROWTH} MB; N = 15. Where "read" is no, the body is refused.`,
    hostileTable(),
  ].join('\n\n')
  if (options.write) writeSection('messages', report)
  else console.log(report)
}

function historiesTable(): string {
  const head = [
    'endpoint',
    'bytes',
    'results',
    'N',
    'JSON.parse',
    'scan',
    'scan MB/s',
    'shared messages',
    'decode all texts',
    'splice all',
  ]
  return markdownTable(
    head,
    histories.map(({ route, bytes, results, runs, times }) => {
      const ms = (name: string): string => times.get(name)!.toFixed(3)
      const rate = Math.round(bytes / 1000 / times.get('scan')!)
      return [
        route,
        bytes,
        results,
        runs,
        ms('parse'),
        ms('scan'),
        rate,
        ms('shared'),
        ms('texts'),
        ms('splice'),
      ]
    }),
  )
}

function hostileTable(): string {
  return markdownTable(
    ['full of', 'read', '1 MB', `${GROWTH} MB`, 'growth'],
    hostile.map(({ name, isRead, small, large }) => [
      name,
      isRead ? 'yes' : 'no',
      small.toFixed(2),
      large.toFixed(2),
      (large / small).toFixed(1),
    ]),
  )
}
