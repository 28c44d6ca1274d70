import { hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { createRandom } from '../../../../src/lab/bill/statistics.ts'
import { createContext } from '../../../support/line-references.ts'

/**
 * A thread that keeps and refers to bodies in a memory far too small for them, and ends at the
 * first wrong byte.
 */
export interface BodiesSetup {
  readonly memory: SharedArrayBuffer
  readonly seed: number
  readonly rounds: number
  /** Word 0 is 1 as soon as the thread is at work. */
  readonly started: SharedArrayBuffer
}

export interface BodiesReport {
  readonly references: number
  readonly forgotten: number
}

const { memory, seed, rounds, started } = workerData as BodiesSetup
const random = createRandom(seed + 1)
const context = createContext(memory, `session ${seed % 2}`)
let references = 0
let forgotten = 0
for (let round = 0; round < rounds; round++) {
  const body = random(40)
  const text = Array.from({ length: 5 + random(80) }, (_, i) => `line ${i} of body ${body}`).join(
    '\n',
  )
  const answer = context.refer(text)
  if (answer !== null) {
    references++
    if (context.restore(answer) !== text) throw new Error('an answer stands for another text')
  }
  context.keep(text)
  const kept = context.memory.read(hash('sha256', text), context.key)
  if (kept === null) forgotten++
  else if (kept !== text) throw new Error('a body is another')
  if (round === 10) {
    Atomics.store(new Int32Array(started), 0, 1)
    Atomics.notify(new Int32Array(started), 0)
  }
}
parentPort?.postMessage({ references, forgotten } satisfies BodiesReport)
