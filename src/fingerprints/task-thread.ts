import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../errors.ts'
import type { Tasks } from './tasks.ts'
import type { TaskEnd, TaskMessage } from './thread.ts'

/** A thread of its own for uploads and merges, which starts with the first task. Tasks run one after the other. */
export interface TaskThread {
  /**
   * @throws AppError what the task threw; `timeout`, `worker_lost` where the thread ended; `overloaded` where too many wait
   */
  run<Name extends keyof Tasks>(
    name: Name,
    input: Parameters<Tasks[Name]>[0],
    transfer?: readonly ArrayBuffer[],
  ): Promise<Awaited<ReturnType<Tasks[Name]>>>
  close(): Promise<void>
}

export interface TaskThreadOptions {
  /** What a task may take, in milliseconds. */
  readonly limitMs?: number
  readonly maxWaiting?: number
  onBug(bug: string): void
}

const LIMIT_MS = 10_000
const MAX_WAITING = 256
const HEAP_MB = 512

interface Waiting {
  readonly message: TaskMessage
  readonly transfer: readonly ArrayBuffer[]
  settle(end: TaskEnd): void
}

export function createTaskThread(options: TaskThreadOptions): TaskThread {
  const { limitMs = LIMIT_MS, maxWaiting = MAX_WAITING } = options
  const queue: Waiting[] = []
  let worker: Worker | null = null
  let current: Waiting | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function next(): void {
    if (current !== null) return
    const task = queue.shift()
    if (task === undefined) {
      worker?.unref()
      return
    }
    current = task
    worker ??= start()
    worker.ref()
    timer = setTimeout(() => end('timeout'), limitMs)
    worker.postMessage(task.message, [...task.transfer])
  }

  function start(): Worker {
    const started = new Worker(threadModule(), {
      name: 'fingerprints',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    started.on('message', (taskEnd: TaskEnd) => {
      if (started === worker) finish(taskEnd)
    })
    // What it died of is told by its end.
    started.on('error', () => undefined)
    started.on('exit', () => {
      if (started === worker) end('worker_lost')
    })
    return started
  }

  /** Ends the thread with the task that it is at. */
  function end(code: 'timeout' | 'worker_lost'): void {
    const ended = worker
    worker = null
    void ended?.terminate()
    if (current !== null) finish({ ok: false, problem: { code, detail: LOST, retry_after_s: 1 } })
  }

  function finish(taskEnd: TaskEnd): void {
    clearTimeout(timer)
    const done = current
    current = null
    if (!taskEnd.ok && taskEnd.bug !== undefined) options.onBug(taskEnd.bug)
    done?.settle(taskEnd)
    next()
  }

  return {
    run(name, input, transfer = []) {
      return new Promise((resolve, reject) => {
        const settle = (taskEnd: TaskEnd) => {
          if (taskEnd.ok) resolve(taskEnd.value as Awaited<ReturnType<Tasks[typeof name]>>)
          else {
            const { code, detail, ...extras } = taskEnd.problem
            reject(new AppError(code, detail, extras))
          }
        }
        if (closed || queue.length >= maxWaiting) {
          settle({ ok: false, problem: closed ? CLOSING : CROWDED })
          return
        }
        queue.push({ message: { name, input }, transfer, settle })
        next()
      })
    },
    async close() {
      closed = true
      for (const waiting of queue.splice(0)) waiting.settle({ ok: false, problem: CLOSING })
      const ended = worker
      end('worker_lost')
      await ended?.terminate()
    },
  }
}

const LOST = 'the thread of fingerprints was lost'

const CROWDED = {
  code: 'overloaded',
  detail: 'too many uploads and merges wait',
  retry_after_s: 1,
} as const

const CLOSING = {
  code: 'overloaded',
  detail: 'the service is shutting down',
  retry_after_s: 1,
} as const

/** TypeScript here, JavaScript in the published package. */
function threadModule(): URL {
  return new URL(`./thread${extname(import.meta.url)}`, import.meta.url)
}
