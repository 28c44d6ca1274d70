import { AppError, type Problem } from '../core/base/errors.ts'
import { ownThread } from '../threads/own-thread.ts'

/** Tasks by name: each takes one input, which crosses to the thread, and returns or throws. */
// biome-ignore lint/suspicious/noExplicitAny: each task has an input of its own
export type TaskTable = Readonly<Record<string, (input: any) => unknown>>

/** One task at a time comes in, and its end goes out. */
export interface TaskMessage {
  readonly name: string
  readonly input: unknown
}

/** `bug` is for our log only. */
export type TaskEnd =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: Problem; readonly bug?: string }

/** Runs the tasks that a `TaskThread` sends to this thread. */
export function serveTasks(tasks: TaskTable): void {
  const { port } = ownThread()
  port.on('message', async ({ name, input }: TaskMessage) => {
    const end = await run(tasks, name, input)
    port.postMessage(end, end.ok ? ownBuffers(end.value) : [])
  })
}

async function run(tasks: TaskTable, name: string, input: unknown): Promise<TaskEnd> {
  try {
    const task = tasks[name]
    if (task === undefined) throw new Error(`there is no task ${name}`)
    return { ok: true, value: await task(input) }
  } catch (error) {
    if (error instanceof AppError) return { ok: false, problem: error.toProblem() }
    const bug = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const problem = { code: 'internal', detail: 'an unexpected error; it was logged' } as const
    return { ok: false, problem, bug }
  }
}

/** Buffers that a result is the only one to look into: moved, not copied. */
function ownBuffers(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null) return []
  const views = value instanceof Uint8Array ? [value] : Object.values(value)
  return views
    .filter(view => view instanceof Uint8Array && view.byteLength === view.buffer.byteLength)
    .map(view => view.buffer)
}
