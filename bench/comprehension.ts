import { fileURLToPath } from 'node:url'
import { encode as toToon } from '@toon-format/toon'
import { JSON_FORMATS } from '../src/core/formats/json/registry.ts'
import { count, encode } from '../src/index.ts'
import type { ChatEndpoint } from '../src/lab/bench/chat-completion.ts'
import { readPlainly } from '../test/support/plain-readers/readers.ts'
import { ask } from './comprehension/ask.ts'
import { FEWEST_PAIRS } from './comprehension/constructs/pairs.ts'
import { examineConstructs } from './comprehension/constructs/report.ts'
import { type DataSet, dataSets, sentOf } from './comprehension/data-sets.ts'
import { keepResults, modelsTable, type Row } from './comprehension/model-results.ts'
import { type Question, sameAnswer } from './comprehension/question.ts'
import { QUESTIONS } from './comprehension/questions.ts'
import { markdownTable, writeSection } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- comprehension [--url URL --model MODEL --key KEY --json | --write]
 * npm run bench -- comprehension --constructs [--url URL --model MODEL --key KEY --max-tokens N]
 *
 * Questions with gold answers about the same data as JSON, TOON and in each of our formats; about
 * texts as they came and as we write them. With an endpoint that speaks OpenAI's chat completions,
 * a model answers them. Without one, plain readers prove that every gold answer can be read from
 * our texts; `--write` puts their table into bench/results. With one it keeps the model's answers
 * in bench/results/comprehension, and puts the table of all models there.
 *
 * `--constructs` asks about pairs of texts instead, with a construct and without it, and reports
 * what each construct costs in answers: `constructs/report.ts`.
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

function written(set: DataSet): Written[] {
  const { data, text, answer } = set
  const pretty = JSON.stringify(data, null, 2)
  const { format, content } = sentOf(set)
  const sent: Written = { format, text: content, sent: true }
  if (answer !== undefined) return [sent]
  if (text !== undefined) return [{ format: AS_IT_CAME, text, sent: false }, sent]
  const compact = JSON.stringify(data)
  return [
    { format: 'json_pretty', text: pretty, sent: false },
    { format: 'json_compact', text: compact, sent: false },
    { format: 'toon', text: toToon(data), sent: false },
    ...JSON_FORMATS.filter(({ id }) => id !== 'json_compact')
      .map(({ id }) => encode({ content: pretty, formats: [id] }))
      .filter(other => other.format !== 'passthrough' && other.format !== format)
      .map(other => ({ format: other.format, text: other.content, sent: false })),
    sent,
  ]
}

async function answerOf(form: Written, question: Question): Promise<string | null> {
  if (endpoint !== null) return ask(endpoint, form.text, question.text)
  return form.format === AS_IT_CAME ? null : question.answer(readPlainly(form.format, form.text))
}

async function examine(set: DataSet, form: Written): Promise<Row> {
  const questions = QUESTIONS[set.name] ?? []
  let right = 0
  let asked = 0
  for (const question of questions) {
    const given = await answerOf(form, question)
    if (given === null) continue
    asked++
    if (sameAnswer(given, question.answer(set.data))) right++
    else process.stderr.write(`${set.name}, ${form.format}: ${question.text} → ${given}\n`)
  }
  const tokens = count({ content: form.text }).tokens ?? 0
  return { set: set.name, format: form.format, sent: form.sent, tokens, right, asked }
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
    json: options.json,
  })
  process.stdout.write(`${text}\n`)
  process.exit(ok ? 0 : 1)
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

const rows: Row[] = []
for (const set of dataSets()) for (const form of written(set)) rows.push(await examine(set, form))

if (options.json)
  process.stdout.write(`${JSON.stringify({ model: options.model || null, rows })}\n`)
else {
  const who = endpoint === null ? 'plain readers' : endpoint.model
  const report = [
    `Answers of ${who}; Node ${process.version}, tokens in o200k_base.`,
    markdownTable(['data', 'sent as', 'tokens', 'as it came', 'right of asked'], sentRows(rows)),
  ].join('\n\n')
  if (options.write && endpoint === null) writeSection('comprehension', report)
  if (options.write && endpoint !== null) {
    keepResults(endpoint.model, rows)
    writeSection('comprehension', modelsTable(), 'comprehension of models')
  }
  process.stdout.write(`${report}\n`)
}
// Without a model every gold answer must be there.
if (endpoint === null && rows.some(({ right, asked }) => right < asked)) process.exitCode = 1
