import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Measured, measureAll } from '../src/cli/bench/measure.ts'
import { type Sums, sumAll, sumBy } from '../src/cli/bench/report.ts'
import { samplesOfCorpus } from '../src/cli/bench/samples.ts'
import { percent } from '../src/cli/table.ts'
import { encodeOperation } from '../src/core/operations/encode.ts'
import { rankText } from '../src/core/reduce/elide/text-reducers.ts'
import { createLocalContext } from '../src/runtime/local-context.ts'
import { hostileTexts } from './elision/hostile-texts.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { median } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- elision CORPUS [--write]
 *
 * What elision saves of recorded results by kind, whether critical parts are left and markers give
 * the very bytes back; and how fast kinds are told and lines ranked. Processor time, since other
 * work may go on beside it.
 */
const options = readOptions({ corpus: REQUIRED, write: false })

const context = createLocalContext()
const measured = await measureAll(samplesOfCorpus(options.corpus), context, () => {})
/** The payloads that the goal of 60 % is for. */
const GOAL = new Set(['eval-logs', 'service-logs', 'diffs'])
const ROUNDS = 5
const MEGABYTE = 1e6
const LOG_BYTES = 20 * MEGABYTE

function row(name: string, sums: Sums): (string | number)[] {
  const { texts, reduced, tokens_in, tokens_lossless, tokens_out } = sums
  return [
    name,
    texts,
    reduced,
    tokens_in,
    tokens_lossless,
    tokens_out,
    percent(tokens_in - tokens_out, tokens_in),
    percent(tokens_lossless - tokens_out, tokens_lossless),
    `${sums.critical_kept}/${sums.critical}`,
    `${sums.restored}/${sums.markers}`,
  ]
}

function table(name: string, keyOf: (each: Measured) => string): string {
  const rows = [...sumBy(measured, keyOf)].sort(([, a], [, b]) => b.tokens_in - a.tokens_in)
  const goal = sumAll(measured.filter(({ sample }) => GOAL.has(sample.group)))
  const last =
    name === 'source' ? [row([...GOAL].join(', '), goal), row('all', sumAll(measured))] : []
  const header = [
    'texts',
    'reduced',
    'tokens',
    'lossless',
    'elided',
    'saved',
    'of lossless',
    'critical kept',
    'restored',
  ]
  return markdownTable([name, ...header], [...rows.map(([key, sums]) => row(key, sums)), ...last])
}

/** Milliseconds of processor time, the median of several. */
function cpuMs(run: () => void, rounds: number): number {
  return median(
    Array.from({ length: rounds }, () => {
      const before = process.cpuUsage().user
      run()
      return (process.cpuUsage().user - before) / 1_000
    }),
  )
}

/** Logs of the corpus one behind the other, as often as it takes. */
function longLog(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(name => name.endsWith('test_output.txt.log') && statSync(name).isFile())
    .sort((a, b) => basename(a).localeCompare(basename(b)))
  const once = files.map(name => readFileSync(name, 'utf8')).join('\n')
  return once.repeat(Math.ceil(LOG_BYTES / once.length)).slice(0, LOG_BYTES)
}

function speed(): string {
  const texts = { 'logs of the corpus': longLog(options.corpus), ...hostileTexts() }
  const rows = Object.entries(texts).map(([name, text]) => {
    const isLog = name === 'logs of the corpus'
    const ms = cpuMs(() => rankText(text), isLog ? ROUNDS : 1)
    const whole = cpuMs(() => {
      const request = { content: text, mode: 'elide', min_saved_tokens: 0 } as const
      encodeOperation.run(request, { ...context, keepsOriginals: true })
    }, 1)
    const mb = text.length / MEGABYTE
    return [
      name,
      rankText(text)?.kind ?? 'none',
      mb.toFixed(1),
      Math.round(ms),
      (mb / (ms / 1_000)).toFixed(0),
      Math.round(whole),
    ]
  })
  return markdownTable(['text', 'kind', 'MB', 'ms to rank', 'MB/s', 'ms with all of encode'], rows)
}

const { node, cores, cpu, date } = machine()
const report = [
  `Node ${node}, ${cores} cores, ${cpu}, ${date}; ${measured.length} results, tokens of o200k_base.`,
  table('kind', ({ sample }) => sample.kind),
  table('source', ({ sample }) => sample.group),
  `Processor time; the logs the median of ${ROUNDS}, the others once.`,
  speed(),
].join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('elision', report)
