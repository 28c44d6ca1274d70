import { packRanges } from '../src/core/base/byte-ranges.ts'
import { OPERATIONS } from '../src/core/operations/registry.ts'
import { BATCH_LIMITS } from '../src/pool/batching.ts'
import type { Job } from '../src/pool/job.ts'
import { createPool } from '../src/pool/pool.ts'
import { createThreads } from '../src/pool/threads.ts'
import type { BatchMessage } from '../workers/protocol.ts'
import { createRunner } from '../workers/thread.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { recordsOf } from './support/sample-results.ts'
import { median } from './support/statistics.ts'
import { benchSetup } from './support/worker-setup.ts'

/**
 * npm run bench -- worker-path [--json --rounds N]
 *
 * What stands behind the figures of `src/pool/batching.ts`: the round trip by jobs of a batch,
 * copying against transferring by size, and small jobs through the pool against in place. One
 * thread, one batch at a time; the cases of a table take turns, figures are medians of rounds, in
 * microseconds.
 */
const options = readOptions({ json: false, rounds: 15 })
const { rounds } = options
const KIB = 1024
const BATCHES = [1, 2, 4, 8, 16, 32, 64]
const BODIES = [1, 4, 8, 16, 32, 64, 128, 256, 1024].map(kib => kib * KIB)
const JOBS = [128, 256, 512, 1 * KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB]
/** What one read of a socket brings at most. */
const CHUNK_BYTES = 64 * KIB

const setup = benchSetup()
const threads = createThreads({
  size: 1,
  workerUrl: new URL('http/noop-worker.ts', import.meta.url),
  heapMb: 512,
  setup: () => setup,
  onExit: () => {},
  onCrash: error => process.stderr.write(`${error}\n`),
})
const pool = createPool({
  threads,
  progress: setup.progress,
  limits: () => ({ jobTimeoutMs: 30_000, queueTimeoutMs: 30_000, maxWaitMs: 60_000 }),
  onBug: (_, bug) => process.stderr.write(`${bug}\n`),
  onThreadLost: reason => process.stderr.write(`a thread was replaced: ${reason}\n`),
})
const { signal } = new AbortController()

/** A message of no-op jobs, one for each body. */
function noops(bodies: readonly Uint8Array[], moveFrom: number): BatchMessage {
  const { body, starts } = packRanges(bodies, moveFrom)
  const job = { op: 'noop', tenant: '', media: 'msgpack', accept: 'json', phase: 'whole' } as const
  const jobs = bodies.map(({ length }, index) => ({ ...job, start: starts[index] ?? 0, length }))
  return { jobs, body, slot: 0 }
}

/** MessagePack of binary data, `length` bytes in all: to be carried, not to be parsed. */
function binary(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  bytes[0] = 0xc6
  new DataView(bytes.buffer).setUint32(1, length - 5)
  return bytes
}

/** Wall-clock time and this thread's CPU time of one call, in microseconds. */
interface Cost {
  readonly wall: number
  readonly cpu: number
}

async function cost(times: number, call: () => unknown): Promise<Cost> {
  const cpu = process.threadCpuUsage()
  const started = performance.now()
  for (let i = 0; i < times; i++) await call()
  const wall = ((performance.now() - started) * 1000) / times
  const { user, system } = process.threadCpuUsage(cpu)
  return { wall, cpu: (user + system) / times }
}

/** Median costs of `cases`, measured in turn, after one round to warm up. */
async function compare(times: number, cases: readonly (() => unknown)[]): Promise<Cost[]> {
  const costs = cases.map((): Cost[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [index, call] of cases.entries()) {
      const measured = await cost(times, call)
      if (round > 0) costs[index]?.push(measured)
    }
  }
  return costs.map(all => ({
    wall: median(all.map(({ wall }) => wall)),
    cpu: median(all.map(({ cpu }) => cpu)),
  }))
}

/** The whole round trip, by how many no-op jobs share it. */
async function byBatch() {
  const body = binary(64)
  const cases = BATCHES.map(size => {
    const bodies = Array.from({ length: size }, () => body)
    return () => threads.run(noops(bodies, Number.POSITIVE_INFINITY), signal)
  })
  const costs = await compare(200, cases)
  return BATCHES.map((jobs, index) => {
    const { wall = 0, cpu = 0 } = costs[index] ?? {}
    return { jobs, trip_us: wall, us_per_job: wall / jobs, main_us_per_job: cpu / jobs }
  })
}

/** As a request's body arrives. */
function chunksOf(body: Uint8Array): Uint8Array[] {
  const count = Math.ceil(body.length / CHUNK_BYTES)
  return Array.from({ length: count }, (_, at) =>
    body.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
  )
}

/** Chunks joined where there are several, then copied into the batch's buffer. */
function copied(chunks: readonly Uint8Array[]) {
  const [only] = chunks
  const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
  return threads.run(noops([whole], Number.POSITIVE_INFINITY), signal)
}

/** Chunks read into a buffer of their own, which is transferred. */
function moved(chunks: readonly Uint8Array[], length: number) {
  const own = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const chunk of chunks) {
    own.set(chunk, at)
    at += chunk.length
  }
  return threads.run(noops([new Uint8Array(own.buffer, 0, length)], 0), signal)
}

/** Copy against transfer, each from the chunks of the socket on. */
async function bySize() {
  const cases = BODIES.flatMap(bytes => {
    const chunks = chunksOf(binary(bytes))
    return [() => copied(chunks), () => moved(chunks, bytes)]
  })
  const costs = await compare(100, cases)
  return BODIES.map((bytes, index) => {
    const [copy, move] = [costs[2 * index], costs[2 * index + 1]]
    return {
      bytes,
      copy_us: copy?.wall ?? 0,
      transfer_us: move?.wall ?? 0,
      copy_main_us: copy?.cpu ?? 0,
      transfer_main_us: move?.cpu ?? 0,
    }
  })
}

async function runWhole(job: Job): Promise<void> {
  const result = await pool.run(job)
  if (!result.ok) throw new Error(result.problem.detail)
}

/** Real encodes: through the pool, and in this thread, where they block everything else. */
async function inPlace() {
  const runBatch = createRunner(OPERATIONS, setup)
  const header = { op: 'encode', media: 'json', accept: 'json' } as const
  const cases = JOBS.flatMap((bytes, seed) => {
    const text = JSON.stringify({ content: recordsOf(bytes * 0.85, seed) })
    const body = new Uint8Array(Buffer.from(text))
    const job: Job = { ...header, tenant: 'local', body, requestId: 'bench' }
    const whole = { ...header, tenant: '', phase: 'whole', start: 0, length: body.length } as const
    return [
      // A copy each time: the pool owns what it is given, and transfers large ones away.
      () => runWhole({ ...job, body: body.slice() }),
      () => runBatch({ jobs: [whole], body: packRanges([body]).body, slot: 0 }),
    ]
  })
  const costs = await compare(100, cases)
  return JOBS.map((bytes, index) => ({
    bytes,
    pool_us: costs[2 * index]?.wall ?? 0,
    pool_main_us: costs[2 * index]?.cpu ?? 0,
    in_place_us: costs[2 * index + 1]?.wall ?? 0,
  }))
}

type Batches = Awaited<ReturnType<typeof byBatch>>
type Sizes = Awaited<ReturnType<typeof bySize>>

/** Ratio of two times that are told apart. */
const NOISE = 1.1

/** The thresholds that follow from the tables, beside those in force. */
function thresholds(batches: Batches, sizes: Sizes) {
  const alone = batches[0]?.us_per_job ?? 0
  const least = batches.at(-1)?.us_per_job ?? 0
  // A job in a batch of this many costs at most a tenth of a trip more than in the largest.
  const jobs = batches.find(({ us_per_job }) => us_per_job <= least + alone / 10)?.jobs
  // Above it, transferring is clearly cheaper at every size.
  const copy = sizes.findLast(({ copy_us, transfer_us }) => copy_us < NOISE * transfer_us)
  const trip = alone - least
  return [
    { name: 'minWorkUs', inForce: BATCH_LIMITS.minWorkUs, follows: Math.round(3 * trip) },
    { name: 'maxWorkUs', inForce: BATCH_LIMITS.maxWorkUs, follows: Math.round(20 * trip) },
    { name: 'maxJobs', inForce: BATCH_LIMITS.maxJobs, follows: jobs ?? 0 },
    { name: 'copyBytes', inForce: BATCH_LIMITS.copyBytes, follows: copy?.bytes ?? 0 },
  ]
}

const RULES = `minWorkUs: three trips, so that splitting a batch adds a third of its work at most.
maxWorkUs: twenty trips; a longer batch would save less than 5 % and delay every answer in it.
maxJobs: from this many on a job saves less than a tenth of a trip more.
copyBytes: the largest size at which transferring does not save a tenth of the time.`

try {
  const batches = await byBatch()
  const sizes = await bySize()
  const jobs = await inPlace()
  const limits = thresholds(batches, sizes)
  const result = { machine: machine(), rounds, batches, sizes, jobs, limits }
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`)
  else {
    const rows = (list: readonly object[]) => list.map(row => Object.values(row))
    const tables = [
      markdownTable(
        ['no-op jobs in a batch', 'trip µs', 'µs/job', 'main thread µs/job'],
        rows(batches),
      ),
      markdownTable(
        ['body bytes', 'copy µs', 'transfer µs', 'copy, main', 'transfer, main'],
        rows(sizes),
      ),
      markdownTable(['encode, bytes', 'pool µs', 'pool, main', 'in place, main'], rows(jobs)),
      `${markdownTable(['threshold', 'in force', 'follows'], rows(limits))}\n${RULES}`,
    ]
    process.stdout.write(`${JSON.stringify(result.machine)}\n\n${tables.join('\n\n')}\n`)
  }
} finally {
  await pool.close()
}
