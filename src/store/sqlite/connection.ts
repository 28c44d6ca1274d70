import { extname } from 'node:path'
import { startThread } from '../../threads/start-thread.ts'
import type { FromThread, ToThread } from './protocol.ts'
import type { ThreadData } from './thread.ts'

/** A connection to a thread that runs the store. It ends as soon as the thread is lost. */
export interface Connection {
  post(message: ToThread, transfer: readonly ArrayBuffer[]): void
  /** Ends the thread at once. */
  terminate(): Promise<void>
}

export interface ConnectionEvents {
  onMessage(message: FromThread): void
  /** Called once when the thread has ended, for whatever reason. */
  onEnd(detail: string): void
}

export type Connect = (events: ConnectionEvents) => Connection

/** Connects to a thread of its own. */
export function threadConnect(options: ThreadData): Connect {
  return ({ onMessage, onEnd }) => {
    const worker = startThread(threadModule(), { name: 'store', data: options })
    let detail = 'the thread ended'
    worker.on('message', onMessage)
    worker.on('error', error => {
      detail = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => onEnd(detail))
    return {
      post: (message, transfer) => worker.postMessage(message, [...transfer]),
      terminate: async () => void (await worker.terminate()),
    }
  }
}

/** TypeScript here, JavaScript in the published package. */
function threadModule(): URL {
  return new URL(`./thread${extname(import.meta.url)}`, import.meta.url)
}
