import { parseArgs } from 'node:util'
import { encode as toToon } from '@toon-format/toon'
import { percent, table } from '../src/cli/table.ts'
import { count, encode } from '../src/index.ts'
import { ask, type Endpoint } from './comprehension/ask.ts'
import { type DataSet, dataSets, type Json } from './comprehension/data-sets.ts'
import { QUESTIONS, type Question, sameAnswer } from './comprehension/questions.ts'
import { readPlainly } from './comprehension/readers.ts'

/**
 * npm run bench:comprehension [-- --url URL --model MODEL --key KEY --json]
 *
 * Questions with gold answers about the same data as JSON, TOON and as we write it. With an endpoint that
 * speaks OpenAI's chat completions, a model answers them. Without one, plain readers prove that every gold
 * answer can be read from our texts.
 */
const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    model: { type: 'string' },
    key: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

/** How one format writes a data set. */
interface Written {
  readonly format: string
  readonly text: string
}

interface Row {
  readonly set: string
  readonly format: string
  readonly tokens: number
  readonly right: number
  readonly asked: number
}

function written({ data }: DataSet): Written[] {
  const content = JSON.stringify(data)
  const ours = encode({ content: JSON.stringify(data, null, 2) })
  return [
    { format: 'json_pretty', text: JSON.stringify(data, null, 2) },
    { format: 'json_compact', text: content },
    { format: 'toon', text: toToon(data) },
    { format: ours.format, text: ours.content },
  ]
}

async function answerOf(form: Written, question: Question): Promise<string | null> {
  if (endpoint !== null) return ask(endpoint, form.text, question.text)
  const data = form.format === 'toon' ? null : readPlainly(form.format, form.text)
  return data === null ? null : question.answer(data as Json)
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
  return { set: set.name, format: form.format, tokens, right, asked }
}

const endpoint: Endpoint | null =
  values.url === undefined
    ? null
    : { url: values.url, model: values.model ?? 'default', key: values.key }

const rows: Row[] = []
for (const set of dataSets()) for (const form of written(set)) rows.push(await examine(set, form))

if (values.json) process.stdout.write(`${JSON.stringify({ model: values.model ?? null, rows })}\n`)
else {
  const who = endpoint === null ? 'plain readers' : endpoint.model
  process.stdout.write(`answers of ${who}; tokens in o200k_base\n\n`)
  process.stdout.write(
    `${table(
      ['data', 'format', 'tokens', 'right', 'asked', 'share'],
      rows.map(({ set, format, tokens, right, asked }) => [
        set,
        format,
        tokens,
        right,
        asked,
        percent(right, asked),
      ]),
    )}\n`,
  )
}
// Without a model every gold answer must be there.
if (endpoint === null && rows.some(({ right, asked }) => right < asked)) process.exitCode = 1
