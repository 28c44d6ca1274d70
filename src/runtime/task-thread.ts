import type { Worker } from 'node:worker_threads'
import { AppError } from '../core/base/errors.ts'
import { FairQueue } from '../core/base/fair-queue.ts'
import { startThread } from '../threads/start-thread.ts'
import type { TaskEnd, TaskMessage, TaskTable } from './serve-tasks.ts'

/**
 * A thread for tasks that would keep the main thread busy. It starts with the first task. Tasks run
 * one after the other. Tenants that wait get equal shares of its time.
 */
export interface TaskThread<Tasks extends TaskTable> {
  /**
   * @param by whose turn it takes
   * @throws AppError what the task threw; `timeout`, `worker_lost` if the thread ended;
   * `overloaded` if too many wait
   */
  run<Name extends keyof Tasks & string>(
    by: string,
    name: Name,
    input: Parameters<Tasks[Name]>[0],
    transfer?: readonly ArrayBuffer[],
  ): Promise<Awaited<ReturnType<Tasks[Name]>>>
  close(): Promise<void>
}

export interface TaskThreadOptions {
  /** In messages, and the thread's own name. */
  readonly name: string
  /** The module of the thread, which calls `serveTasks`. */
  readonly module: URL
  /** What a task may take, in milliseconds. */
  readonly limitMs?: number
  /** Tasks that wait; of one alone at most half of them. */
  readonly maxWaiting?: number
  onBug(bug: string): void
  /** Called if the thread ended during a task. The next task starts another thread. */
  onLost(reason: string): void
}

const LIMIT_MS = 10_000
const MAX_WAITING = 256
const HEAP_MB = 512
/** The cost of a task until its real time is known, in microseconds. */
const TASK_US = 20_000

interface QueuedTask {
  readonly tenant: string
  readonly costUs: number
  readonly queuedAt: number
  readonly message: TaskMessage
  readonly transfer: readonly ArrayBuffer[]
  settle(end: TaskEnd): void
}

export function createTaskThread<Tasks extends TaskTable>(
  options: TaskThreadOptions,
): TaskThread<Tasks> {
  return new OneThread<Tasks>(options)
}

class OneThread<Tasks extends TaskTable> implements TaskThread<Tasks> {
  readonly #options: TaskThreadOptions
  readonly #limitMs: number
  readonly #maxWaiting: number
  readonly #queue = new FairQueue<QueuedTask>()
  #worker: Worker | null = null
  #current: { readonly task: QueuedTask; readonly startedAt: number } | null = null
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: TaskThreadOptions) {
    this.#options = options
    this.#limitMs = options.limitMs ?? LIMIT_MS
    this.#maxWaiting = options.maxWaiting ?? MAX_WAITING
  }

  run<Name extends keyof Tasks & string>(
    by: string,
    name: Name,
    input: Parameters<Tasks[Name]>[0],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Awaited<ReturnType<Tasks[Name]>>> {
    return new Promise((resolve, reject) => {
      const settle = (taskEnd: TaskEnd) => {
        if (taskEnd.ok) resolve(taskEnd.value as Awaited<ReturnType<Tasks[Name]>>)
        else {
          reject(AppError.of(taskEnd.problem))
        }
      }
      const isFull =
        this.#queue.length >= this.#maxWaiting || this.#queue.waitingOf(by) >= this.#maxWaiting / 2
      if (this.#closed || isFull) {
        settle({ ok: false, problem: this.#closed ? CLOSING : this.#crowded() })
        return
      }
      const queuedAt = performance.now()
      this.#queue.push({
        tenant: by,
        costUs: TASK_US,
        queuedAt,
        message: { name, input },
        transfer,
        settle,
      })
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const waiting of this.#queue.remove(() => true))
      waiting.settle({ ok: false, problem: CLOSING })
    const ended = this.#worker
    this.#end('worker_lost', 'the service is shutting down')
    await ended?.terminate()
  }

  #crowded() {
    const detail = `too many tasks wait for the thread of ${this.#options.name}`
    return { code: 'overloaded', detail, retry_after_s: 1 } as const
  }

  #next(): void {
    if (this.#current !== null) return
    const task = this.#queue.take()
    if (task === undefined) {
      this.#worker?.unref()
      return
    }
    this.#current = { task, startedAt: performance.now() }
    this.#timer = setTimeout(
      () => this.#end('timeout', `a task took ${this.#limitMs} ms`),
      this.#limitMs,
    )
    try {
      this.#worker ??= this.#start()
      this.#worker.ref()
      this.#worker.postMessage(task.message, [...task.transfer])
    } catch (error) {
      // This fails if the system has no more threads.
      this.#end('worker_lost', String(error))
    }
  }

  #start(): Worker {
    const started = startThread(this.#options.module, {
      name: this.#options.name,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    let why = 'it ended'
    started.on('message', (taskEnd: TaskEnd) => {
      if (started === this.#worker) this.#finish(taskEnd)
    })
    started.on('error', error => {
      why = String(error)
    })
    started.on('exit', () => {
      if (started === this.#worker) this.#end('worker_lost', why)
    })
    return started
  }

  /** Ends the thread and fails its current task. */
  #end(code: 'timeout' | 'worker_lost', why: string): void {
    const ended = this.#worker
    this.#worker = null
    void ended?.terminate()
    if (!this.#closed) this.#options.onLost(why)
    if (this.#current === null) return
    const detail = `the thread of ${this.#options.name} was lost`
    this.#finish({ ok: false, problem: { code, detail, retry_after_s: 1 } })
  }

  #finish(taskEnd: TaskEnd): void {
    clearTimeout(this.#timer)
    if (this.#current === null) return
    const { task, startedAt } = this.#current
    this.#current = null
    this.#queue.charge(task, (performance.now() - startedAt) * 1000)
    if (!taskEnd.ok && taskEnd.bug !== undefined) this.#options.onBug(taskEnd.bug)
    task.settle(taskEnd)
    this.#next()
  }
}

const CLOSING = {
  code: 'overloaded',
  detail: 'the service is shutting down',
  retry_after_s: 1,
} as const
