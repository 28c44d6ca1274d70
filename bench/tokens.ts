/**
 * Token counting: `npm run bench -- tokens [--corpus DIR] [--json]`. Speed against other tokenizers
 * on texts that none has seen, hostile inputs, and what a worker costs; all in one process. Method:
 * docs/reference/tokens.md.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ENCODINGS } from '../src/core/tokens/profiles.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { machine } from './support/machine.ts'
import { tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { measureHostile } from './tokens/hostile.ts'
import { loadSources } from './tokens/sources.ts'
import { claims, measureSpeed } from './tokens/speed.ts'
import { measureWorkerCost } from './tokens/worker-cost.ts'

const options = readOptions({ corpus: '', json: false })

function timed<T>(work: () => T): { result: T; ms: number } {
  const started = performance.now()
  const result = work()
  return { result, ms: performance.now() - started }
}

const cacheDir = join(tmpdir(), `haversack-bench-${process.pid}`)
const packed = timed(() => loadVocabularies({ cacheDir }))
const loaded = timed(() => loadVocabularies({ cacheDir }))
const vocabularies = loaded.result
const sources = loadSources(options.corpus || undefined)

const worker = await measureWorkerCost(vocabularies)
const speed = ENCODINGS.map(encoding => measureSpeed(encoding, vocabularies, sources))
const hostile = ENCODINGS.map(encoding => ({
  encoding,
  rows: measureHostile(encoding, vocabularies, sources),
}))
const report = {
  machine: machine(),
  source: sources.description,
  load: { pack_both_ms: packed.ms, from_cache_ms: loaded.ms },
  worker,
  speed: speed.map(one => ({ ...one, ...claims(one) })),
  hostile,
}

if (options.json) console.log(JSON.stringify(report))
else print()

function print(): void {
  console.log(report.machine, `source: ${report.source}`)
  console.log('load', report.load, 'worker', worker)
  for (const { rows, ...rest } of report.speed) {
    console.log(tableOf(rows))
    console.log(rounded(rest))
  }
  for (const { encoding, rows } of hostile) {
    console.log(encoding)
    console.log(tableOf(rows))
  }
}

function rounded(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key,
      typeof value === 'number' ? Number(value.toPrecision(3)) : value,
    ]),
  )
}
