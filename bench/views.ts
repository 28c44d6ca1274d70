/**
 * What views show of a corpus: `npm run bench -- views CORPUS [--json]`. Each result is encoded at
 * each level. What is lossless is decoded again, and the original of each marker is compared with
 * the input. The last column counts hidden values that later calls of the same session quote.
 */

import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { readResults } from '../src/cli/replay/read-results.ts'
import { measureViews } from '../src/cli/views/measure-views.ts'
import { readPipelineConfig } from '../src/config/pipeline.ts'
import { parseHint } from '../src/core/hints/hint-line.ts'
import { parseJson } from '../src/core/json/parse-json.ts'
import { equalValues } from '../src/core/json/value.ts'
import { decodeOperation } from '../src/core/operations/decode.ts'
import { encodeOperation } from '../src/core/operations/encode.ts'
import { readInput } from '../src/core/pipeline/read-input.ts'
import { viewOf } from '../src/core/pipeline/view.ts'
import { compileView } from '../src/core/reduce/views/compile-views.ts'
import { createLocalContext } from '../src/runtime/local-context.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

const options = readOptions({ corpus: REQUIRED, json: false })
const corpus = options.corpus
const pipeline = readPipelineConfig({ data_dir: '/nowhere' })
const context = { ...createLocalContext(), keepsOriginals: true, pipeline }

interface Sums {
  results: number
  before: number
  full: number
  standard: number
  compact: number
  elide: number
  viewed: number
  faults: number
}

const NONE: Sums = {
  results: 0,
  before: 0,
  full: 0,
  standard: 0,
  compact: 0,
  elide: 0,
  viewed: 0,
  faults: 0,
}
const folders = new Map<string, Sums>()
for (const file of globSync(`${corpus}/payloads/**/*.json`).sort()) {
  const content = readFileSync(file, 'utf8')
  const folder = basename(dirname(file))
  const sums = folders.get(folder) ?? { ...NONE }
  folders.set(folder, sums)
  sums.results++
  const elided = encodeOperation.run({ content, mode: 'elide', min_saved_tokens: 0 }, context)
  sums.elide += elided.answer.tokens.final
  for (const level of ['full', 'standard', 'compact'] as const) {
    const { answer, keep = [] } = encodeOperation.run({ content, response_budget: level }, context)
    sums[level] += answer.tokens.final
    if (level === 'full') sums.before += answer.tokens.baseline
    if (level === 'compact' && answer.view !== undefined) sums.viewed++
    if (!isTrue(content, answer, keep)) sums.faults++
  }
}

/** Whether a lossless text decodes to its input, and a marker names a kept original. */
function isTrue(
  content: string,
  answer: ReturnType<typeof encodeOperation.run>['answer'],
  keep: readonly { readonly bytes: Uint8Array }[],
): boolean {
  if (!answer.lossless) {
    const marker = parseHint(answer.content.split('\n').at(-1) ?? '')
    const [original] = keep
    return marker?.family === 'elision' && Buffer.from(original?.bytes ?? []).toString() === content
  }
  const { format } = answer
  const decoded = decodeOperation.run({ content: answer.content, format }, context).answer.content
  const [left, right] = [parseJson(content), parseJson(decoded)]
  return left.ok && right.ok ? equalValues(left.value, right.value) : decoded === content
}

const saved = (part: number, whole: number) => `${(100 - (100 * part) / whole).toFixed(1)} %`
const rows = [...folders].map(([folder, sums]) => [
  folder,
  String(sums.results),
  String(sums.viewed),
  saved(sums.full, sums.before),
  saved(sums.elide, sums.before),
  saved(sums.standard, sums.before),
  saved(sums.compact, sums.before),
  String(sums.faults),
])
const figures = measureViews(readResults(corpus).results, context)
const hidden = [...figures].map(([view, each]) => [
  view,
  String(each.results),
  saved(each.lossless, each.before),
  saved(each.standard, each.before),
  saved(each.compact, each.before),
  `${each.neededLater} of ${each.inSessions}`,
])

/** Processor time of choosing and applying a view among 100, for a result of 4 KB. */
function millisecondsAmong100(): number {
  const known = pipeline.knownViews ?? []
  const many = Array.from({ length: 100 }, (_, at) => {
    const view = known[at % known.length]!
    return compileView({ ...view, name: `${view.name}-${at}` })
  })
  const items = Array.from({ length: 14 }, (_, id) => ({
    id,
    node_id: `MDU6SXNzdWU${id * 7919}`,
    title: `Oar ${id} is too short for the boat`,
    labels_url: `https://api.example/repos/lake/boats/issues/${id}/labels`,
    html_url: `https://example/lake/boats/issues/${id}`,
    user: { login: `rower${id}`, id, node_id: `MDQ6${id}`, type: 'User' },
    state: 'open',
  }))
  const content = JSON.stringify(items)
  const input = readInput({ content }, context)
  const times: number[] = []
  for (let run = 0; run < 400; run++) {
    const started = performance.now()
    viewOf(input, 'compact', many)
    times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  return times[200]!
}

if (options.json) {
  process.stdout.write(`${JSON.stringify({ machine: machine(), folders: [...folders], hidden })}\n`)
} else {
  const header = [
    'payloads',
    'results',
    'with a view',
    'lossless',
    'elide',
    'standard',
    'compact',
    'faults',
  ]
  process.stdout.write(`${JSON.stringify(machine())}\n\n${markdownTable(header, rows)}\n\n`)
  const more = ['view', 'results', 'lossless', 'standard', 'compact', 'quoted later']
  process.stdout.write(`${markdownTable(more, hidden)}\n`)
  process.stdout.write(
    `\nA view among 100, 4 KB: ${millisecondsAmong100().toFixed(3)} ms (median)\n`,
  )
}
