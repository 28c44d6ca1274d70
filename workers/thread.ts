import { getPriority, setPriority } from 'node:os'
import { parentPort, threadId, workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { freeBytes, packRanges } from '../src/core/base/byte-ranges.ts'
import { readMarks } from '../src/core/base/thread-marks.ts'
import { protectThread } from '../src/core/base/unbroken.ts'
import type { KeepItem } from '../src/core/contract/operation-result.ts'
import type { Operations } from '../src/core/operations/registry.ts'
import type { SharedCounters } from '../src/core/tokens/counters.ts'
import { createHeap, type Heap } from './heap.ts'
import { JobRunner, type UnpackedOutcome, withReports } from './job-runner.ts'
import type {
  BatchMessage,
  BatchResult,
  JobOutcome,
  KeysAhead,
  ShrinkMessage,
  ShrinkResult,
  WorkerSetup,
} from './protocol.ts'
import { createStoreWork } from './store-work.ts'

/** How much a worker thread yields to other threads, as Unix niceness. */
const NICENESS = 5

/** What a thread does with each message. */
type Runner = (message: BatchMessage | ShrinkMessage) => BatchResult | ShrinkResult

/**
 * The runner of this worker thread. It yields to the main thread if both need a processor, because
 * an answer or a probe should not wait for a batch. On Linux each thread has a priority of its own.
 * On other systems the priority is the whole process's, so it is not changed.
 */
export function startThread(operations: Operations): Runner {
  standBack()
  const heap = createHeap()
  const tell = (ahead: KeysAhead) => parentPort?.postMessage(ahead)
  const runBatch = createRunner(operations, workerData as WorkerSetup, { ...heap, tell })
  return message => {
    if (!('shrinkThread' in message)) return runBatch(message)
    const isShrunk = message.shrinkThread === threadId
    if (isShrunk) heap.shrink()
    return { isShrunk }
  }
}

function standBack(): void {
  if (process.platform !== 'linux') return
  try {
    if (getPriority(0) < NICENESS) setPriority(0, NICENESS)
  } catch {
    // If this is not allowed, answers only come a little later.
  }
}

/** What a runner needs of its thread. */
interface RunnerOptions extends Partial<Pick<Heap, 'hasGrown'>> {
  /** Sends the main thread a message while a job runs; absent: it gets none. */
  tell?(ahead: KeysAhead): void
  /** Those that this thread has already; absent: it creates them. */
  readonly counters?: SharedCounters
}

/** The function that a worker thread runs for each batch. */
export function createRunner(
  operations: Operations,
  setup: WorkerSetup,
  { hasGrown = () => false, tell, counters }: RunnerOptions = {},
): (message: BatchMessage) => BatchResult {
  const runner = new JobRunner(operations, setup, counters)
  const { marks, protections } = readMarks(setup.progress)
  const workForStore = createStoreWork(setup)
  return message => {
    protectThread(protections, message.slot)
    const bodies = new Uint8Array(message.body)
    runner.learn(message)
    const unpacked = message.jobs
      .map((job, index) => {
        Atomics.store(marks, message.slot, index)
        const body = bodies.subarray(job.start, job.start + job.length)
        const { slot } = message
        return runner.run(job, body, keysAhead => tell?.({ slot, job: index, keysAhead }))
      })
      .map(each => withReports(each, setup.keepsTexts))
      .map(workForStore)
    const result = packed(unpacked, message.body)
    return transferring({ ...result, ...(hasGrown() ? { grownThread: threadId } : {}) })
  }
}

/**
 * The outcomes of a batch with all of their bytes in one buffer.
 * @param request the buffer of what came, which the thread may remember
 */
function packed(
  unpacked: readonly UnpackedOutcome[],
  request: ArrayBuffer,
): Pick<BatchResult, 'outcomes' | 'body'> {
  const { body, starts } = packRanges(
    unpacked.flatMap(({ bytes, keep, records, again }) => {
      const kept = keep.flatMap(each => [each.bytes, each.compressed ?? null])
      return [bytes, ...kept, ...records.map(each => each.bytes), again]
    }),
  )
  let next = 0
  const placed = <T extends { readonly bytes: Uint8Array }>({ bytes, ...item }: T) => {
    return { ...item, start: starts[next++] as number, length: bytes.length }
  }
  const placedText = ({ compressed, ...item }: KeepItem) => {
    const whole = placed(item)
    const start = starts[next++] as number
    return compressed === undefined
      ? whole
      : { ...whole, compressed: { start, length: compressed.length } }
  }
  const outcomes = unpacked.map(({ outcome, bytes, keep, records, again }): JobOutcome => {
    const start = starts[next++] as number
    const ranges = { keep: keep.map(placedText), records: records.map(placed) }
    const againAt = starts[next++] as number
    if (bytes === null) return outcome
    const whole = { ...outcome, start, length: bytes.length }
    if (whole.kind !== 'done') return whole
    const rest = again === null ? {} : { again: { start: againAt, length: again.length } }
    return { ...whole, ...ranges, ...rest }
  })
  for (const { bytes } of unpacked) {
    if (bytes !== null && bytes.buffer !== request) freeBytes(bytes)
  }
  return { outcomes, body }
}

/** Marks the result so that its buffer is moved, not copied. */
function transferring(result: BatchResult): BatchResult {
  return move({
    get [transferableSymbol]() {
      return result.body
    },
    get [valueSymbol]() {
      return result
    },
  }) as unknown as BatchResult
}
