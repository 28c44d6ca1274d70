import { extname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../threads/start-thread.ts'
import type { LogAnswer, LogTask } from './thread.ts'

/** Threads that read and encode logs, started when there is a task for them. */
export interface LogThreads {
  /** Does a task for each item; an item whose task is `null` ends it, and those after it. */
  each<Item, Answer extends LogAnswer>(
    items: readonly Item[],
    taskOf: (item: Item) => LogTask | null,
    take: (item: Item, answer: Answer | null) => void,
  ): Promise<void>
  close(): Promise<void>
}

export function createLogThreads(most: number): LogThreads {
  const workers: Worker[] = []

  function ask(worker: Worker, task: LogTask): Promise<LogAnswer> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        settle()
      }
      const onMessage = (answer: LogAnswer) => end(() => resolve(answer))
      const onError = (error: unknown) => end(() => reject(error as Error))
      const onExit = (code: number) => end(() => reject(new Error(`a thread ended with ${code}`)))
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(task)
    })
  }

  return {
    async each(items, taskOf, take) {
      while (workers.length < Math.min(most, items.length)) {
        workers.push(startThread(threadModule(), { name: 'discover' }))
      }
      let next = 0
      await Promise.all(
        workers.map(async worker => {
          while (next < items.length) {
            const item = items[next++]!
            const task = taskOf(item)
            if (task === null) return
            take(item, (await ask(worker, task)) as never)
          }
        }),
      )
    },
    async close() {
      await Promise.all(workers.map(worker => worker.terminate()))
    },
  }
}

/** The module as it is run: TypeScript, or what the build made of it. */
function threadModule(): URL {
  return new URL(`./thread${extname(import.meta.url)}`, import.meta.url)
}
