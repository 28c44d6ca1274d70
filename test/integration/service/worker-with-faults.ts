import { z } from 'zod'
import type { ByteOperation, Operation } from '../../../src/core/operations/operation.ts'
import { OPERATIONS } from '../../../src/core/operations/registry.ts'
import { startThread } from '../../../workers/thread.ts'

const faulty = (name: string, run: () => never): Operation => ({
  name,
  request: z.unknown(),
  answer: z.unknown(),
  run,
})

/** Tells of two decisions, and does not end. */
const ahead: ByteOperation = {
  kind: 'bytes',
  name: 'ahead',
  run(_, { rewrites }) {
    rewrites?.ahead?.(['a', 'b'])
    for (;;);
  },
}

/** The workers of the service, and jobs that end in every bad way there is. */
export const runBatch = startThread({
  ...OPERATIONS,
  spin: faulty('spin', () => {
    for (;;);
  }),
  exit: faulty('exit', () => process.exit(7)),
  hoard: faulty('hoard', () => {
    const hoard: number[][] = []
    for (;;) hoard.push(Array(100_000).fill(hoard.length + 0.5))
  }),
  ahead,
  bug: faulty('bug', () => {
    throw new TypeError('secret')
  }),
})
