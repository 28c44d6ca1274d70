import { parseArgs } from 'node:util'
import { createProgress } from '../src/console/progress.ts'
import { patient, serviceAt } from '../src/console/service-client.ts'
import { percent, table } from '../src/console/table.ts'
import { servicePlayer } from '../src/lab/replay/player.ts'
import type { RecordedResult } from '../src/lab/replay/read-results.ts'
import { type Played, Replay } from '../src/lab/replay/replay.ts'
import { createLocalContext } from '../src/library/local-context.ts'
import { makeResults } from './results.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

/**
 * npm run demo [-- --url URL]
 *
 * Makes tool results on the spot, plays them through a service as two agent sessions, decodes every
 * answer, compares, and sums up. Exits with 0 only if every answer came back as what went in.
 */
const { values } = parseArgs({ options: { url: { type: 'string' } } })

interface Row extends Played {
  readonly session: string
  readonly tool: string
}

/** The sessions run beside one another, as two agents would; each plays its results in order. */
async function playSessions(results: readonly RecordedResult[], url: string): Promise<Row[]> {
  const { counters } = createLocalContext()
  const replay = new Replay({
    player: servicePlayer(patient(serviceAt(url, {}))),
    ...{ common: {}, counters, counter: counters.get('o200k_base'), share: 0 },
    ...{ baselineTokens: null, write() {} },
    tell: (what, reason) => process.stderr.write(`demo: ${what}: ${reason}\n`),
  })
  const progress = createProgress('playing', results.length)
  const sessions = Map.groupBy(results, ({ session = '' }) => session)
  const rows = await Promise.all(
    [...sessions].map(async ([session, calls]) => {
      const played: Row[] = []
      for (const call of calls) {
        const answered = await replay.play(call)
        if (answered === null) throw new Error(`no answer for a result of ${call.tool}`)
        played.push({ session, tool: call.tool, ...answered })
        progress.advance()
      }
      return played
    }),
  )
  progress.done()
  return rows.flat()
}

function toRow({ session, tool, answer, restored }: Row): (string | number)[] {
  const { shape, layer, format, tokens } = answer
  const { baseline, final } = tokens
  const saved = percent(baseline - final, baseline)
  return [
    session,
    tool,
    shape,
    layer,
    format,
    baseline,
    final,
    saved,
    restored ? 'same' : 'DIFFERS',
  ]
}

const HEADER = 'session,tool,shape,layer,format,tokens in,out,saved,decoded'.split(',')

/** One line of the totals. */
function sum(label: string, rows: readonly Row[]): (string | number)[] {
  const before = rows.reduce((total, { answer }) => total + answer.tokens.baseline, 0)
  const after = rows.reduce((total, { answer }) => total + answer.tokens.final, 0)
  const same = rows.filter(({ restored }) => restored).length
  return [
    label,
    rows.length,
    before,
    after,
    percent(before - after, before),
    `${same}/${rows.length}`,
  ]
}

function report(rows: readonly Row[], notes: readonly string[]): string {
  const passed = rows.filter(({ answer }) => answer.layer === 'L3')
  const encoded = rows.filter(({ answer }) => answer.layer !== 'L3')
  const tokenizers = new Set(
    rows.map(
      ({ answer: { tokens } }) => `${tokens.tokenizer}${tokens.exact ? '' : ' (estimated)'}`,
    ),
  )
  const totals = table(
    ['', 'results', 'tokens in', 'out', 'saved', 'decoded'],
    [sum('encoded', encoded), sum('passed through', passed), sum('all', rows)],
  )
  return [
    table(HEADER, rows.map(toRow)),
    totals,
    [
      `Tokens in ${[...tokenizers].join(', ')}; the baseline is each tool result as it came.`,
      'What no format makes smaller passes through unchanged, such as most prose and source.',
      ...notes.map(note => `Note: ${note}.`),
    ].join('\n'),
  ].join('\n\n')
}

/** Whether the answer came back as what went in, and all that it says is true. */
function isRight({ restored, findings }: Row): boolean {
  return restored && findings.length === 0
}

function verdict(rows: readonly Row[]): string {
  const differing = rows.filter(row => !isRight(row))
  return differing.length === 0
    ? `Every one of ${rows.length} answers decoded to what went in.`
    : `${differing.length} of ${rows.length} answers did not decode to what went in.`
}

async function fetchText(url: URL): Promise<string> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status}`)
  return response.text()
}

/** A log to play: the service writes a line for each request. */
async function someLog(service: ServiceProcess): Promise<string> {
  for (let i = 0; i < 20; i++) await fetchText(new URL('/readyz', service.url))
  return service.log()
}

async function main(): Promise<number> {
  const service = values.url === undefined ? await startServiceProcess() : undefined
  const url = service?.url ?? values.url ?? ''
  const log = service === undefined ? '' : await someLog(service)
  const { results, notes } = await makeResults(log, path => fetchText(new URL(path, url)))
  const rows = await playSessions(results, url)
  const stopped = (await service?.stop()) ?? 0
  process.stdout.write(`${report(rows, notes)}\n\n${verdict(rows)}\n`)
  if (stopped !== 0) process.stderr.write(`demo: the service ended with ${stopped}\n`)
  return stopped === 0 && rows.every(isRight) ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
