import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Threads, WorkerThreads } from '../../../src/pool/threads.ts'
import type { BatchMessage } from '../../../workers/protocol.ts'
import { bundledWorker } from '../../support/bundled-worker.ts'
import { eventually } from '../../support/eventually.ts'
import { bytesOf, header, workerSetup } from '../../support/runner.ts'

const SIZE = 2

let started: Worker[] = []
let threads: Threads
const noteWorker = (worker: Worker) => started.push(worker)

beforeEach(() => {
  started = []
  process.on('worker', noteWorker)
  threads = new WorkerThreads({
    size: SIZE,
    workerUrl: bundledWorker(new URL('worker-with-faults.ts', import.meta.url)),
    heapMb: 256,
    setup: () => ({ ...workerSetup(SIZE), asked: { sessions: false } }),
    onCrash: () => {},
    onExit: () => {},
  })
})

afterEach(async () => {
  process.off('worker', noteWorker)
  await threads.close()
})

function message(op: string, slot: number): BatchMessage {
  const body = bytesOf(JSON.stringify({ content: 'one two three' }))
  return { jobs: [header(op, body)], body: body.buffer, slot }
}

const { signal } = new AbortController()
const count = (slot: number) => threads.run(message('count', slot), signal)

it('needs one thread for batches one after the other', async () => {
  for (const slot of [0, 1, 2, 3]) await count(slot)
  expect(started).toHaveLength(1)
})

it('starts a thread for each batch that finds none free, up to its size', async () => {
  await count(0)
  const stop = new AbortController()
  const spinning = threads.run(message('spin', 1), stop.signal)
  const [first] = (await count(3)).outcomes
  expect(first?.kind).toBe('done')
  expect(started).toHaveLength(SIZE)
  const waiting = [threads.run(message('spin', 4), stop.signal), count(5), count(6)]
  stop.abort()
  const ends = await Promise.allSettled([spinning, ...waiting])
  expect(ends.map(({ status }) => status)).toEqual([
    ...Array(2).fill('rejected'),
    ...Array(2).fill('fulfilled'),
  ])
})

/** Threads that were just started are not ready at once. */
async function allReady(): Promise<readonly number[]> {
  return eventually(async () => {
    const ids = [...threads.free!()]
    expect(ids).toHaveLength(SIZE)
    for (const id of ids) {
      expect(await threads.run(message('count', 3), signal, { near: id })).toHaveProperty(
        'thread',
        id,
      )
    }
    return ids
  })
}

it('runs a batch on the thread that is wanted if it is free, else on another one', async () => {
  await Promise.all([0, 1].map(count))
  const [first, ...others] = await allReady()
  const stop = new AbortController()
  const spinning = threads.run(message('spin', 4), stop.signal, { near: first })
  expect([...threads.free!()]).toEqual(others)
  const { thread } = await threads.run(message('count', 5), signal, { near: first })
  expect(others).toContain(thread)
  stop.abort()
  await expect(spinning).rejects.toThrow()
  await allReady()
})

it('replaces threads that were lost, and has as many as before', async () => {
  const stop = new AbortController()
  const spinning = threads.run(message('spin', 0), stop.signal)
  await count(1)
  expect(started).toHaveLength(SIZE)
  stop.abort()
  await expect(spinning).rejects.toThrow()
  await eventually(() => expect(started).toHaveLength(SIZE + 1))
  await expect(threads.run(message('exit', 2), signal)).rejects.toThrow()
  await eventually(() => expect(started).toHaveLength(SIZE + 2))
})

it('hears which decisions a job is about to make, while the job runs', async () => {
  const stop = new AbortController()
  const heard = Promise.withResolvers<unknown>()
  const ahead = (...told: unknown[]) => heard.resolve(told)
  const running = threads.run(message('ahead', 4), stop.signal, { ahead })
  expect(await heard.promise).toEqual([0, ['a', 'b']])
  stop.abort()
  await expect(running).rejects.toThrow()
})
