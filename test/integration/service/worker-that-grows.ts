import { z } from 'zod'
import { OPERATIONS } from '../../../src/core/operations/registry.ts'
import { startThread } from '../../../workers/thread.ts'

const OBJECTS = 3_000_000
let held: object[] = []

/** The workers of the service, and a job that takes some 200 MiB of heap. */
export const runBatch = startThread({
  ...OPERATIONS,
  grow: {
    name: 'grow',
    request: z.unknown(),
    answer: z.unknown(),
    run() {
      held = Array.from({ length: OBJECTS }, (_, n) => ({ n, next: n + 0.5 }))
      // After the thread has looked at its heap, and before it waits.
      queueMicrotask(() => {
        held = []
      })
      return { answer: held.length, reports: [] }
    },
  },
})
