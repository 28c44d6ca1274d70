import { z } from 'zod'
import type { Operation } from '../../src/core/operations/operation.ts'

/** An operation that does nothing: what is left is the path there and back. */
export const noopOperation: Operation<unknown, { done: boolean }> = {
  name: 'noop',
  request: z.unknown(),
  answer: z.object({ done: z.boolean() }),
  run: () => ({ answer: { done: true }, reports: [] }),
}
