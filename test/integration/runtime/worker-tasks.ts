import { parentPort } from 'node:worker_threads'
import { AppError } from '../../../src/core/base/errors.ts'
import type { TaskEnd } from '../../../src/runtime/serve-tasks.ts'

/** A thread for tests: the input says what becomes of a task. */
parentPort?.on('message', ({ input }: { readonly input: unknown }) => {
  if (input === 'die') process.exit(1)
  if (input === 'hang') for (;;);
  parentPort?.postMessage(endOf(input))
})

function endOf(input: unknown): TaskEnd {
  if (input === 'refuse') {
    return { ok: false, problem: new AppError('invalid_request', 'no').toProblem() }
  }
  if (input === 'bug') return { ok: false, problem: { code: 'internal', detail: '' }, bug: 'why' }
  return { ok: true, value: input }
}
