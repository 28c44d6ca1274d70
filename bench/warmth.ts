import { readFileSync } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { encode as encodeToon } from '@toon-format/toon'
import { encode } from '../src/index.ts'
import { jsonPayloads } from './formats/payloads.ts'
import { recordedContexts } from './hints/sessions.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { median } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- warmth CORPUS [--rounds N --json --write]
 *
 * Processor time of encodes in a thread that has run them often, against TOON's encoder on the same
 * JSON, in turn, and of the first 300 encodes of a new thread against those of the same thread when
 * it is warm. `--write` puts the table into `bench/README.md`.
 */

/** Texts that a new thread encodes first. */
const FIRST = 300
const WARM_ROUNDS = 6
const THREADS = 5
/** Characters of the payloads that most tools answer with. */
const [LEAST, MOST] = [2_000, 12_000]

/** Milliseconds of processor time of this thread, for each of these contents. */
function cpuMs(contents: readonly string[], run: (content: string) => void): number {
  const before = process.threadCpuUsage()
  for (const content of contents) run(content)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 / contents.length
}

const ours = (content: string) => void encode({ content })
const theirs = (content: string) => void encodeToon(JSON.parse(content))

interface Cell {
  readonly what: string
  readonly documents: number
  /** Of one document. */
  readonly ms: number
  readonly against_ms: number
  readonly ratio: number
}

/** Both encoders, warm, in turn. */
function againstToon(what: string, documents: readonly string[], rounds: number): Cell {
  for (let i = 0; i < WARM_ROUNDS; i++) {
    cpuMs(documents, ours)
    cpuMs(documents, theirs)
  }
  const pairs = Array.from({ length: rounds }, () => {
    return [cpuMs(documents, ours), cpuMs(documents, theirs)] as const
  })
  return cellOf(what, documents.length, pairs)
}

function cellOf(
  what: string,
  documents: number,
  pairs: readonly (readonly [number, number])[],
): Cell {
  return {
    what,
    documents,
    ms: median(pairs.map(([own]) => own)),
    against_ms: median(pairs.map(([, other]) => other)),
    ratio: median(pairs.map(([own, other]) => own / other)),
  }
}

/** The first encodes of a new thread, and the same ones when it is warm. */
function runInThread(texts: readonly string[]): Promise<readonly [number, number]> {
  const thread = new Worker(new URL(import.meta.url), { workerData: texts })
  return new Promise((resolve, reject) => {
    thread.once('message', resolve)
    thread.once('error', reject)
  })
}

function measureThread(texts: readonly string[]): readonly [number, number] {
  encode({ content: 'x' })
  const first = cpuMs(texts, ours)
  for (let i = 0; i < WARM_ROUNDS; i++) cpuMs(texts, ours)
  return [first, median(Array.from({ length: 3 }, () => cpuMs(texts, ours)))]
}

/** Texts of recorded results, spread over all sessions. */
function recordedTexts(corpus: string): readonly string[] {
  const all = recordedContexts(corpus).flatMap(context => context.map(({ text }) => text))
  return Array.from({ length: FIRST }, (_, i) => all[Math.floor((i * all.length) / FIRST)]!)
}

async function main(): Promise<void> {
  const options = readOptions({ corpus: REQUIRED, rounds: 9, json: false, write: false })
  const files = [...jsonPayloads(options.corpus).values()].flat()
  const payloads = files.map(file => readFileSync(file, 'utf8'))
  const small = payloads.filter(({ length }) => length >= LEAST && length <= MOST)
  const texts = recordedTexts(options.corpus)
  const threads: (readonly [number, number])[] = []
  for (let i = 0; i < THREADS; i++) threads.push(await runInThread(texts))
  const cells = [
    againstToon('JSON payloads ÷ TOON', payloads, options.rounds),
    againstToon('of them 2–12 KB ÷ TOON', small, options.rounds),
    cellOf(`first ${FIRST} recorded texts of a thread ÷ warm`, FIRST, threads),
  ]
  if (options.json) return console.log(JSON.stringify({ machine: machine(), rows: cells }))
  const table = markdownTable(
    ['what', 'documents', 'ms each', 'against, ms', 'ratio', 'goal'],
    cells.map(({ what, documents, ms, against_ms: against, ratio }, i) => [
      what,
      documents,
      ms.toFixed(3),
      against.toFixed(3),
      ratio.toFixed(2),
      i < 2 ? '≤ 3' : '≤ 1.5',
    ]),
  )
  const { node, cores, cpu, date } = machine()
  const report = `Node ${node}, ${cores} cores of an ${cpu}, ${date}.\n\n${table}`
  if (options.write) writeSection('Warmth', report)
  else console.log(report)
}

if (isMainThread) await main()
else parentPort!.postMessage(measureThread(workerData as readonly string[]))
