import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { startThread } from '../../../src/threads/start-thread.ts'
import { bundledWorker } from '../../support/bundled-worker.ts'

const MODULE = bundledWorker(new URL('worker-unbroken.ts', import.meta.url))

function start(way: string): { readonly thread: Worker; readonly cells: Int32Array } {
  const shared = new SharedArrayBuffer(8)
  const thread = startThread(MODULE, { name: way, data: { way, shared } })
  return { thread, cells: new Int32Array(shared) }
}

describe('a thread that is terminated', () => {
  it('finishes its unbroken work', async () => {
    const { thread, cells } = start('inside')
    await once(thread, 'message')
    let hasEnded = false
    const end = thread.terminate().then(() => {
      hasEnded = true
    })
    // It ends no sooner than a thread that is in no such work.
    const other = start('outside').thread
    await once(other, 'message')
    await other.terminate()
    expect([hasEnded, cells[1]]).toEqual([false, 0])
    Atomics.store(cells, 0, 1)
    Atomics.notify(cells, 0)
    await end
    expect(cells[1]).toBe(1)
  })

  it('ends in any other work, however long it would take', async () => {
    const { thread } = start('outside')
    await once(thread, 'message')
    expect(await thread.terminate()).toBe(1)
  })

  it('may have been lost in its unbroken work', async () => {
    const { thread } = start('lost')
    await once(thread, 'exit')
    await thread.terminate()
  })

  it('may be terminated twice', async () => {
    const { thread } = start('outside')
    await once(thread, 'message')
    await Promise.all([thread.terminate(), thread.terminate()])
    await thread.terminate()
  })
})
