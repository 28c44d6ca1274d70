import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { protectThread } from '../core/base/unbroken.ts'

/** What a thread has from `startThread`. */
export interface OwnThread<Data> {
  readonly port: MessagePort
  readonly data: Data
}

/**
 * The port and the data of this thread. It is protected from now on: before that it must not use
 * zlib. @throws Error in the main thread
 */
export function ownThread<Data = undefined>(): OwnThread<Data> {
  if (parentPort === null) throw new Error('this module runs in a worker thread')
  const { protection, data } = workerData as ThreadSetup
  protectThread(new Int32Array(protection), 0)
  return { port: parentPort, data: data as Data }
}

/** The `workerData` of a thread that `startThread` starts. */
export interface ThreadSetup {
  /** One cell of `protectThread`. */
  readonly protection: SharedArrayBuffer
  readonly data: unknown
}
