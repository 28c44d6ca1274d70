import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../core/base/errors.ts'
import { createFairQueue } from '../core/base/fair-queue.ts'
import type { Tasks } from './tasks.ts'
import type { TaskEnd, TaskMessage } from './thread.ts'

/**
 * A thread of its own for uploads and merges, which starts with the first task. Tasks run one after
 * the other; those who wait get the same time of it each.
 */
export interface TaskThread {
  /**
   * @param by whose turn it takes
   * @throws AppError what the task threw; `timeout`, `worker_lost` where the thread ended;
   * `overloaded` where too many wait
   */
  run<Name extends keyof Tasks>(
    by: string,
    name: Name,
    input: Parameters<Tasks[Name]>[0],
    transfer?: readonly ArrayBuffer[],
  ): Promise<Awaited<ReturnType<Tasks[Name]>>>
  close(): Promise<void>
}

export interface TaskThreadOptions {
  /** What a task may take, in milliseconds. */
  readonly limitMs?: number
  /** Tasks that wait; of one alone at most half of them. */
  readonly maxWaiting?: number
  /** The thread to run, for tests. */
  readonly module?: URL
  onBug(bug: string): void
  /**
   * The thread was ended, or has ended, with a task that it was at; the next one starts another.
   */
  onLost(reason: string): void
}

const LIMIT_MS = 10_000
const MAX_WAITING = 256
const HEAP_MB = 512
/** What a task is charged until it is known what it took, in microseconds. */
const TASK_US = 20_000

interface Waiting {
  readonly tenant: string
  readonly costUs: number
  readonly queuedAt: number
  readonly message: TaskMessage
  readonly transfer: readonly ArrayBuffer[]
  settle(end: TaskEnd): void
}

export function createTaskThread(options: TaskThreadOptions): TaskThread {
  const { limitMs = LIMIT_MS, maxWaiting = MAX_WAITING, module = threadModule() } = options
  const queue = createFairQueue<Waiting>()
  let worker: Worker | null = null
  let current: { readonly task: Waiting; readonly startedAt: number } | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function next(): void {
    if (current !== null) return
    const task = queue.take()
    if (task === undefined) {
      worker?.unref()
      return
    }
    current = { task, startedAt: performance.now() }
    timer = setTimeout(() => end('timeout', `a task took ${limitMs} ms`), limitMs)
    try {
      worker ??= start()
      worker.ref()
      worker.postMessage(task.message, [...task.transfer])
    } catch (error) {
      // A system that has no more threads says so here.
      end('worker_lost', String(error))
    }
  }

  function start(): Worker {
    const started = new Worker(module, {
      name: 'fingerprints',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    let why = 'it ended'
    started.on('message', (taskEnd: TaskEnd) => {
      if (started === worker) finish(taskEnd)
    })
    started.on('error', error => {
      why = String(error)
    })
    started.on('exit', () => {
      if (started === worker) end('worker_lost', why)
    })
    return started
  }

  /** Ends the thread with the task that it is at. */
  function end(code: 'timeout' | 'worker_lost', why: string): void {
    const ended = worker
    worker = null
    void ended?.terminate()
    if (!closed) options.onLost(why)
    if (current !== null) finish({ ok: false, problem: { code, detail: LOST, retry_after_s: 1 } })
  }

  function finish(taskEnd: TaskEnd): void {
    clearTimeout(timer)
    if (current === null) return
    const { task, startedAt } = current
    current = null
    queue.charge(task, (performance.now() - startedAt) * 1000)
    if (!taskEnd.ok && taskEnd.bug !== undefined) options.onBug(taskEnd.bug)
    task.settle(taskEnd)
    next()
  }

  return {
    run(by, name, input, transfer = []) {
      return new Promise((resolve, reject) => {
        const settle = (taskEnd: TaskEnd) => {
          if (taskEnd.ok) resolve(taskEnd.value as Awaited<ReturnType<Tasks[typeof name]>>)
          else {
            const { code, detail, ...extras } = taskEnd.problem
            reject(new AppError(code, detail, extras))
          }
        }
        const isFull = queue.length >= maxWaiting || queue.waitingOf(by) >= maxWaiting / 2
        if (closed || isFull) {
          settle({ ok: false, problem: closed ? CLOSING : CROWDED })
          return
        }
        const queuedAt = performance.now()
        queue.push({
          tenant: by,
          costUs: TASK_US,
          queuedAt,
          message: { name, input },
          transfer,
          settle,
        })
        next()
      })
    },
    async close() {
      closed = true
      for (const waiting of queue.remove(() => true))
        waiting.settle({ ok: false, problem: CLOSING })
      const ended = worker
      end('worker_lost', 'the service is shutting down')
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
