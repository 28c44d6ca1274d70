import { extname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../threads/start-thread.ts'
import type { LogFile } from '../logs/list-logs.ts'
import { addTally, type LogTally, noTally } from '../logs/read-log.ts'
import type { Mined } from '../mine-log.ts'
import type { MineMessage, MineSetup, MineTask } from './mine-thread.ts'

interface MineFilesOptions extends MineSetup {
  /** Most threads that are used. */
  readonly threads: number
  /** Takes all results, in the order of the logs and in each log in its own. */
  onMined(mined: Mined): void
  onRead(bytes: number): void
}

/** Counts over all logs. */
export interface FilesRead {
  readonly tally: LogTally
  /** Logs that could not be read, or not to their end. */
  readonly unreadable: number
}

/** Logs that may be read before the one in front of them is done, whose results wait. */
const WINDOW = 64

/**
 * Mines logs in threads. Each log is mined in one thread, since the encoding of a result depends on
 * those before it. The results are the same for any number of threads.
 * @throws Error if a thread is lost
 */
export async function mineFiles(
  files: readonly LogFile[],
  { threads, tokens, key, baseline = 'input', onMined, onRead }: MineFilesOptions,
): Promise<FilesRead> {
  const tally = noTally()
  const setup: MineSetup = { tokens, key, baseline }
  /** By place, of logs after the first that is not done. */
  const waiting = new Map<number, MineMessage[]>()
  let unreadable = 0
  let next = 0
  let front = 0
  const idle: Worker[] = []
  const workers = Array.from({ length: Math.min(threads, files.length) }, () => {
    return startThread(threadModule(), { name: 'mine', data: setup })
  })
  if (workers.length === 0) return { tally, unreadable }

  function assign(): void {
    while (next < files.length && next < front + WINDOW) {
      const worker = idle.pop()
      if (worker === undefined) return
      const task: MineTask = { index: next, file: files[next]! }
      next++
      worker.postMessage(task)
    }
  }

  function deliver(message: MineMessage): void {
    if (message.kind === 'mined') message.mined.forEach(onMined)
    else if (message.kind === 'done') {
      addTally(tally, message.tally)
      if (!message.isWhole) unreadable++
      front++
      const held = waiting.get(front) ?? []
      waiting.delete(front)
      held.forEach(deliver)
    }
  }

  function hold(index: number, message: MineMessage): void {
    const held = waiting.get(index)
    if (held === undefined) waiting.set(index, [message])
    else held.push(message)
  }

  function take(worker: Worker, message: MineMessage): void {
    if (message.kind === 'read') {
      onRead(message.bytes)
      return
    }
    if (message.index === front) deliver(message)
    else hold(message.index, message)
    if (message.kind !== 'done') return
    idle.push(worker)
    assign()
  }

  try {
    await new Promise<void>((resolve, reject) => {
      for (const worker of workers) {
        worker.on('message', (message: MineMessage) => {
          try {
            take(worker, message)
          } catch (error) {
            reject(error)
          }
          if (front === files.length) resolve()
        })
        worker.on('error', reject)
        worker.on('exit', code => reject(new Error(`a thread ended with ${code}`)))
      }
      for (const item of workers) idle.push(item)
      assign()
    })
  } finally {
    await Promise.all(workers.map(worker => worker.terminate()))
  }
  return { tally, unreadable }
}

/** The module as it is run: TypeScript, or what the build made of it. */
function threadModule(): URL {
  return new URL(`./mine-thread${extname(import.meta.url)}`, import.meta.url)
}
