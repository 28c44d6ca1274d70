import { setImmediate as nextTurn } from 'node:timers/promises'
import { valueSymbol } from 'piscina'
import { BYTE_OPERATIONS, OPERATIONS } from '../../src/core/operations/registry.ts'
import type { ThreadOptions, Threads } from '../../src/pool/threads.ts'
import type { BatchResult } from '../../workers/protocol.ts'
import { createRunner } from '../../workers/thread.ts'
import { countersFor } from './runner.ts'

/**
 * One thread that is none: runs each batch in this thread, in a later turn of its loop. What goes
 * in and out is copied and moved as between threads.
 */
export function ownThread({ setup }: Pick<ThreadOptions, 'setup'>): Threads {
  const own = setup()
  const runBatch = createRunner({ ...OPERATIONS, ...BYTE_OPERATIONS }, own, countersFor(own))
  return {
    size: 1,
    async run(message, signal) {
      const moved = structuredClone(message, { transfer: [message.body] })
      await nextTurn(undefined, { signal })
      const result = (runBatch(moved) as unknown as Record<symbol, BatchResult>)[valueSymbol]
      if (result === undefined) throw new Error('the runner moves every result')
      return structuredClone(result, { transfer: [result.body] })
    },
    async close() {},
  }
}
