import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { createBodyMemory } from '../../../../src/core/sessions/lines/memory-layout.ts'
import { bundledWorker } from '../../../support/bundled-worker.ts'
import { createContext } from '../../../support/line-references.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import type { BodiesReport, BodiesSetup } from './worker-bodies.ts'

const MEMORY_BYTES = 1 << 16
const ROUNDS = FULL_RUNS ? 1_500 : 250

function start(setup: Omit<BodiesSetup, 'started'>) {
  const started = new SharedArrayBuffer(4)
  const workerData: BodiesSetup = { ...setup, started }
  const worker = new Worker(bundledWorker(new URL('./worker-bodies.ts', import.meta.url)), {
    workerData,
  })
  return { worker, started: new Int32Array(started) }
}

describe('a body memory between threads', () => {
  it('threads that overwrite each other read nothing wrong', async () => {
    const memory = createBodyMemory({ bytes: MEMORY_BYTES })
    const reports = await Promise.all(
      [0, 1, 2, 3].map(async seed => {
        const { worker } = start({ memory, seed, rounds: ROUNDS })
        const [report] = (await once(worker, 'message')) as [BodiesReport]
        return report
      }),
    )
    for (const { references } of reports) expect(references).toBeGreaterThan(ROUNDS / 15)
  })

  it('threads that are ended in the middle leave a memory that works', async () => {
    const memory = createBodyMemory({ bytes: MEMORY_BYTES })
    const ended = [0, 1, 2].map(async seed => {
      const { worker, started } = start({ memory, seed, rounds: 1e9 })
      await Atomics.waitAsync(started, 0, 0).value
      await worker.terminate()
    })
    await Promise.all(ended)
    const context = createContext(memory, 'session 0')
    const text = `${'a line of the thread that goes on\n'.repeat(3)}and its end`
    context.keep(text)
    expect(context.restore(context.refer(`new\n${text}`)!)).toBe(`new\n${text}`)
  })
})
