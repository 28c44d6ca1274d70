import { expect, it, vi } from 'vitest'
import { createLateThreads } from '../../../src/pool/late-threads.ts'
import type { ThreadOptions, Threads } from '../../../src/pool/threads.ts'
import type { BatchMessage, BatchResult } from '../../../workers/protocol.ts'

const options: ThreadOptions = {
  size: 3,
  workerUrl: new URL('file:///none.ts'),
  heapMb: 1,
  setup: () => {
    throw new Error('asked for before there is a thread')
  },
  onCrash: () => {},
  onExit: () => {},
}
const message: BatchMessage = { jobs: [], body: new ArrayBuffer(0), slot: 0 }
const result: BatchResult = { outcomes: [], body: new ArrayBuffer(0) }
const { signal } = new AbortController()

function fakeThreads() {
  const close = vi.fn(async () => {})
  const run = vi.fn(async () => result)
  const create = vi.fn((): Threads => ({ size: 3, run, close }))
  return { create, run, close }
}

it('starts threads once, when there is the first batch', async () => {
  const { create, run, close } = fakeThreads()
  const threads = createLateThreads(options, create)
  expect(threads.size).toBe(3)
  expect(create).not.toHaveBeenCalled()
  const answers = await Promise.all([threads.run(message, signal), threads.run(message, signal)])
  expect(answers).toEqual([result, result])
  expect(create.mock.calls).toEqual([[options]])
  expect(run).toHaveBeenCalledTimes(2)
  await threads.close()
  expect(close).toHaveBeenCalledOnce()
})

it('starts none after it was closed', async () => {
  const { create } = fakeThreads()
  const threads = createLateThreads(options, create)
  await threads.close()
  await expect(threads.run(message, signal)).rejects.toThrow('closed')
  expect(create).not.toHaveBeenCalled()
})

it('tries again if no thread could be started', async () => {
  const { create } = fakeThreads()
  create.mockImplementationOnce(() => {
    throw new Error('no vocabulary')
  })
  const threads = createLateThreads(options, create)
  await expect(threads.run(message, signal)).rejects.toThrow('no vocabulary')
  await expect(threads.run(message, signal)).resolves.toBe(result)
})
