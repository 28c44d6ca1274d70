import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SHRINK_PAUSE_MS, WorkerThreads } from '../../../src/pool/threads.ts'
import type { BatchMessage } from '../../../workers/protocol.ts'
import { bundledWorker } from '../../support/bundled-worker.ts'
import { bytesOf, header, workerSetup } from '../../support/runner.ts'

const MIB = 1024 * 1024
const SIZE = 2

function message(op: string, slot: number): BatchMessage {
  const body = bytesOf(JSON.stringify({ content: 'one two three' }))
  return { jobs: [header(op, body)], body: body.buffer, slot }
}

/** What all threads hold, in MiB. */
async function heldMib(workers: readonly Worker[]): Promise<number> {
  const heaps = await Promise.all(workers.map(worker => worker.getHeapStatistics()))
  return heaps.reduce((sum, { total_heap_size: bytes }) => sum + bytes, 0) / MIB
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

it('has idle threads give back what a large job took, and loses no job', async () => {
  const workers: Worker[] = []
  const noteWorker = (worker: Worker) => workers.push(worker)
  process.on('worker', noteWorker)
  const lost: unknown[] = []
  let noteShrunk: (threadId: number) => void = () => {}
  const shrunk = new Promise<number>(resolve => {
    noteShrunk = resolve
  })
  const threads = new WorkerThreads({
    size: SIZE,
    workerUrl: bundledWorker(
      new URL('../../integration/service/worker-that-grows.ts', import.meta.url),
    ),
    heapMb: 1024,
    setup: () => workerSetup(SIZE),
    onCrash: error => lost.push(error),
    onExit: () => {},
    onShrunk: threadId => noteShrunk(threadId),
  })
  const { signal } = new AbortController()
  try {
    const grown = await threads.run(message('grow', 0), signal)
    expect(grown.outcomes[0]?.kind).toBe('done')
    expect(grown.grownThread).toBeTypeOf('number')
    expect(await heldMib(workers)).toBeGreaterThan(100)

    vi.advanceTimersByTime(SHRINK_PAUSE_MS)
    // The idle thread is asked now; these jobs come after the question, or start another thread.
    const results = await Promise.all(
      [1, 2, 3].map(slot => threads.run(message('count', slot), signal)),
    )
    expect(results.flatMap(({ outcomes }) => outcomes.map(({ kind }) => kind))).toEqual(
      Array(3).fill('done'),
    )
    expect(await shrunk).toBe(grown.grownThread)
    expect(await heldMib(workers)).toBeLessThan(100)
    expect(lost).toEqual([])
  } finally {
    process.off('worker', noteWorker)
    await threads.close()
  }
})
