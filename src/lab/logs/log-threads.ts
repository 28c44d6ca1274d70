import { extname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../threads/start-thread.ts'
import type { LogAnswers, LogTask } from './thread.ts'

/** Threads that read and encode logs, started when there is a task for them. */
export class LogThreads {
  readonly #most: number
  readonly #workers: Worker[] = []

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Does a task for each item; an item whose task is `null` ends it, and those after it.
   * @param take gets the answer; `null`: the log cannot be read, or has none
   * @throws Error if a thread is lost
   */
  async each<Item, Kind extends LogTask['kind']>(
    items: readonly Item[],
    taskOf: (item: Item) => (LogTask & { readonly kind: Kind }) | null,
    take: (item: Item, answer: LogAnswers[Kind] | null) => void,
  ): Promise<void> {
    while (this.#workers.length < Math.min(this.#most, items.length)) {
      const module = new URL(`./thread${extname(import.meta.url)}`, import.meta.url)
      this.#workers.push(startThread(module, { name: 'logs' }))
    }
    let next = 0
    await Promise.all(
      this.#workers.map(async worker => {
        while (next < items.length) {
          const item = items[next++]!
          const task = taskOf(item)
          if (task === null) return
          take(item, await ask<LogAnswers[Kind] | null>(worker, task))
        }
      }),
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map(worker => worker.terminate()))
  }
}

function ask<Answer>(worker: Worker, task: LogTask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      settle()
    }
    const onMessage = (answer: Answer) => end(() => resolve(answer))
    const onError = (error: unknown) => end(() => reject(error as Error))
    const onExit = (code: number) => end(() => reject(new Error(`a thread ended with ${code}`)))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    worker.postMessage(task)
  })
}
