import { fileURLToPath } from 'node:url'
import { encode as toToon } from '@toon-format/toon'
import { percent } from '../src/console/table.ts'
import { JSON_FORMATS } from '../src/core/formats/json/registry.ts'
import { count, encode } from '../src/index.ts'
import type { ChatEndpoint } from '../src/lab/bench/chat-completion.ts'
import { readPlainly } from '../test/support/plain-readers/readers.ts'
import { ask, intervalText, shareInterval } from './comprehension/ask.ts'
import { examineConstructs } from './comprehension/constructs.ts'
import {
  type DataSet,
  goldOf,
  type Question,
  sameAnswer,
  sentOf,
} from './comprehension/data-set.ts'
import { dataSets } from './comprehension/data-sets.ts'
import { FEWEST_PAIRS } from './comprehension/pairs.ts'
import { markdownTable, writeSection } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- comprehension [--url URL --model MODEL --key KEY] [--json] [--write]
 * npm run bench -- comprehension --constructs [--url URL --model MODEL --key KEY --max-tokens N]
 *
 * Questions with gold answers about the same data as JSON, TOON and in each of our formats; about
 * texts unchanged and as we write them. With an endpoint that speaks OpenAI's chat completions, a
 * model answers them. Without one, plain readers prove that every gold answer can be read from our
 * texts. `--write` puts the table into bench/results.
 *
 * `--constructs` asks about pairs of texts instead, with a construct and without it, and prints what
 * each construct costs in answers. A model's answers are kept in `--folder`.
 */
const options = readOptions({
  url: '',
  model: '',
  key: '',
  json: false,
  write: false,
  constructs: false,
  pairs: FEWEST_PAIRS,
  'max-tokens': 2_000_000,
  'error-tokens': 1500,
  folder: fileURLToPath(new URL('results/comprehension/constructs', import.meta.url)),
})

/** A text that is no data in a format: only a model is asked about it. */
const AS_IT_CAME = 'as it came'
/** Rows of a data set that have its input. */
const INPUTS: ReadonlySet<string> = new Set(['json_pretty', AS_IT_CAME])

/** How one format writes a data set. */
interface Written {
  readonly format: string
  readonly text: string
  /** Whether it is what `encode` answers. */
  readonly sent: boolean
}

interface Row extends Omit<Written, 'text'> {
  readonly set: string
  readonly tokens: number
  readonly right: number
  readonly asked: number
}

function written(set: DataSet): Written[] {
  const { data, text, answer } = set
  const pretty = JSON.stringify(data, null, 2)
  const { format, content } = sentOf(set)
  const sent: Written = { format, text: content, sent: true }
  if (answer !== undefined) return [sent]
  if (text !== undefined) return [{ format: AS_IT_CAME, text, sent: false }, sent]
  return [
    { format: 'json_pretty', text: pretty, sent: false },
    { format: 'json_compact', text: JSON.stringify(data), sent: false },
    { format: 'toon', text: toToon(data), sent: false },
    ...JSON_FORMATS.filter(({ id }) => id !== 'json_compact')
      .map(({ id }) => encode({ content: pretty, formats: [id] }))
      .filter(other => other.format !== 'passthrough' && other.format !== format)
      .map(other => ({ format: other.format, text: other.content, sent: false })),
    sent,
  ]
}

async function answerOf({ format, text }: Written, question: Question): Promise<string | null> {
  if (endpoint !== null) return ask(endpoint, text, question[0])
  return format === AS_IT_CAME ? null : goldOf(question, readPlainly(format, text))
}

async function examine({ name, data, questions }: DataSet, form: Written): Promise<Row> {
  let right = 0
  let asked = 0
  for (const question of questions) {
    const given = await answerOf(form, question)
    if (given === null) continue
    asked++
    if (sameAnswer(given, goldOf(question, data))) right++
    else process.stderr.write(`${name}, ${form.format}: ${question[0]} → ${given}\n`)
  }
  const tokens = count({ content: form.text }).tokens ?? 0
  return { set: name, format: form.format, sent: form.sent, tokens, right, asked }
}

/** A row for each data set: the format that is sent, its tokens, and those of the input. */
function sentRows(all: readonly Row[]): (string | number)[][] {
  return all
    .filter(({ sent }) => sent)
    .map(({ set, format, tokens, right, asked }) => {
      const input = all.find(row => row.set === set && INPUTS.has(row.format))
      return [set, format, tokens, input?.tokens ?? '', `${right} of ${asked}`]
    })
}

/** JSON, TOON and ours over the sets that all three have. */
function formatRows(all: readonly Row[]): (string | number)[][] {
  const sets = new Set(all.filter(({ format }) => format === 'toon').map(({ set }) => set))
  const rowOf = (name: string, is: (row: Row) => boolean) => {
    const rows = all.filter(row => sets.has(row.set) && is(row))
    const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0)
    const [right, asked] = [sum(row => row.right), sum(row => row.asked)]
    const interval = intervalText(shareInterval(right, asked))
    return [name, sum(row => row.tokens), right, asked, percent(right, asked), interval]
  }
  return [
    rowOf('JSON', ({ format }) => format === 'json_compact'),
    rowOf('TOON', ({ format }) => format === 'toon'),
    rowOf('ours', ({ sent }) => sent),
  ]
}

const endpoint: ChatEndpoint | null =
  options.url === ''
    ? null
    : { url: options.url, model: options.model || 'default', key: options.key || undefined }

if (options.constructs) {
  const { ok, text } = await examineConstructs({
    endpoint,
    pairs: options.pairs,
    maxTokens: options['max-tokens'],
    errorTokens: options['error-tokens'],
    folder: options.folder,
  })
  process.stdout.write(`${text}\n`)
  process.exit(ok ? 0 : 1)
}

const rows: Row[] = []
for (const set of dataSets()) for (const form of written(set)) rows.push(await examine(set, form))

if (options.json) {
  process.stdout.write(`${JSON.stringify({ model: options.model || null, rows })}\n`)
} else {
  const who = endpoint === null ? 'plain readers' : endpoint.model
  const formats = ['format', 'tokens', 'right', 'asked', 'share', '95 % interval']
  const report = [
    `Answers of ${who}; Node ${process.version}, tokens in o200k_base.`,
    ...(endpoint === null ? [] : [markdownTable(formats, formatRows(rows))]),
    markdownTable(['data', 'sent as', 'tokens', 'as it came', 'right of asked'], sentRows(rows)),
  ].join('\n\n')
  const part = endpoint === null ? 'comprehension' : `comprehension of ${who.replace(/\W+/g, '-')}`
  if (options.write) writeSection('comprehension', report, part)
  process.stdout.write(`${report}\n`)
}
// Without a model every gold answer must be there.
if (endpoint === null && rows.some(({ right, asked }) => right < asked)) process.exitCode = 1
