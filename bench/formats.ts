/**
 * Tokens of whole results in each notation: `npm run bench -- formats CORPUS [--json |
 * --write]`. JSON payloads of the corpus in both encodings as pretty and compact JSON, as TOON, and
 * as `encode` sends them; what each notation is worth; savings by shape; a peer's recorded answers;
 * what the remaining tokens are. Every answer is decoded and compared first. `--write` puts the
 * tables into bench/results.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { readResults } from '../src/cli/replay/read-results.ts'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { ENCODINGS, type Encoding } from '../src/core/tokens/profiles.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { measureCandidates } from './formats/candidates.ts'
import { type Contents, measureContent, sumOf } from './formats/contents.ts'
import { levelsTable } from './formats/levels.ts'
import { measureParity } from './formats/parity.ts'
import { jsonPayloads } from './formats/payloads.ts'
import { measurePlaces } from './formats/places.ts'
import { measureRemaining } from './formats/remaining.ts'
import {
  aboveLine,
  candidatesTable,
  contentsTable,
  jsonShapesTable,
  parityTable,
  placesTable,
  remainingTable,
  textShapesTable,
} from './formats/report.ts'
import { measureShapes } from './formats/shapes.ts'
import { machine } from './support/machine.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'

const options = readOptions({ corpus: REQUIRED, json: false, write: false })

const counters = createTokenCounters(
  loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' }),
)
const folders = jsonPayloads(options.corpus)
const texts = readResults(options.corpus).results.map(({ text }) => text)

/** One row a file, in the order of their names. */
function filesOf(folder: string, encoding: Encoding): readonly Contents[] {
  return (folders.get(folder) ?? []).map(file =>
    measureContent(basename(file), readFileSync(file, 'utf8'), encoding, counters.get(encoding)),
  )
}

function measure(encoding: Encoding) {
  const counter = counters.get(encoding)
  return {
    encoding,
    suite: filesOf('toon-suite', encoding),
    folders: [...folders.keys()].map(folder => sumOf(folder, filesOf(folder, encoding))),
    candidates: measureCandidates(texts, encoding, counter),
    parity: measureParity(folders.get('headroom-parity') ?? [], encoding, counter),
    shapes: measureShapes(texts, encoding, counter),
  }
}

const byEncoding = ENCODINGS.map(measure)
const places = measurePlaces(texts)
const remaining = measureRemaining(texts)

if (options.json) {
  process.stdout.write(`${JSON.stringify({ machine: machine(), byEncoding, places, remaining })}\n`)
} else {
  const report = toReport()
  if (options.write) writeSection('formats', report)
  process.stdout.write(`${report}\n`)
}
// No JSON may ever be dearer than its compact text.
const isAbove = byEncoding.some(({ folders, shapes }) =>
  [...folders, ...shapes.json].some(({ above }) => above > 0),
)
if (isAbove) process.exitCode = 1

function toReport(): string {
  const { node, date } = machine()
  const all = texts.length.toLocaleString('en-US')
  const parts = [
    `${all} recorded results, Node ${node}, ${date}. Tokens are counted, not timed: they are the same on any machine.`,
  ]
  for (const { encoding, suite, folders, shapes } of byEncoding) {
    parts.push(
      `#### JSON payloads, ${encoding}`,
      contentsTable(suite.concat(sumOf('all eight', suite))),
      contentsTable(folders),
      aboveLine(shapes, encoding),
    )
  }
  const [{ candidates, parity, shapes }] = byEncoding as [ReturnType<typeof measure>]
  parts.push('#### By shape', jsonShapesTable(shapes), textShapesTable(shapes))
  parts.push('#### By level of reading', levelsTable(texts))
  parts.push('#### What each notation is worth', placesTable(places), candidatesTable(candidates))
  parts.push("#### Beside a peer's recorded answers", parityTable(parity))
  parts.push('#### Where the remaining tokens are', remainingTable(remaining))
  return parts.join('\n\n')
}
