import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readWritten } from '../../src/config/layers/read-all.ts'
import { pipelineSchema } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { Generations } from '../../src/service/configuration/generations.ts'
import { Generations as OfThread } from '../../workers/generations.ts'
import { markdownTable } from '../support/markdown-table.ts'

const GENERATIONS = 64
const MIB = 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Memory of 64 generations, on the main thread and in one worker thread. */
export function generationsTable(): string {
  const measure = (overrides: number) => {
    const written = Array.from({ length: GENERATIONS }, (_, at) => writtenOf(at, overrides))
    const shared = written.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    const main = new Generations({ store: null as never, ttlMs: () => 1, now: () => 0 })
    for (const each of written) main.add(each)
    const before = heapAfterGc()
    const thread = new OfThread({ pipeline: readWritten(written[0]!), generation: written[0]!.id })
    for (const { id, bytes } of written) thread.learn({ [id]: bytes })
    const after = heapAfterGc()
    const mine = thread.find(written.at(-1)!.id) === null ? 0 : 1
    return [
      ...[overrides, (shared / MIB).toFixed(2), `${main.load.generations}`],
      ...[(main.load.bytes / MIB).toFixed(2), ((after - before) / MIB).toFixed(1), mine],
    ]
  }
  // The first one also measures what is loaded then.
  measure(0)
  const rows = [0, 100, 1_000].map(measure)
  const head = ['overrides in each', 'all, MiB', 'at hand', 'of them MiB, shared']
  return markdownTable([...head, 'a thread, MiB', 'has the last'], rows)
}

function writtenOf(at: number, overrides: number) {
  const named = Array.from({ length: overrides }, (_, n) => [`tool_${n}`, { lru_size: 1 + at }])
  const config = { endpoint_overrides: Object.fromEntries(named), dedup: { lru_size: 1 + at } }
  const text = Buffer.from(JSON.stringify(pipelineSchema.parse(config)))
  const bytes = new SharedArrayBuffer(text.length)
  new Uint8Array(bytes).set(text)
  return { id: at.toString(16).padStart(16, '0'), bytes }
}

function heapAfterGc(): number {
  collect()
  return process.memoryUsage().heapUsed
}
