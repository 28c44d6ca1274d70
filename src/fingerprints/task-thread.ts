import { extname } from 'node:path'
import {
  createTaskThread,
  type TaskThread,
  type TaskThreadOptions,
} from '../runtime/task-thread.ts'
import type { Tasks } from './tasks.ts'

/** A merge of the most rows takes some seconds. */
const LIMIT_MS = 30_000

/** A thread for uploads and merges. */
export type FingerprintThread = TaskThread<Tasks>

export function createFingerprintThread(
  options: Omit<TaskThreadOptions, 'name' | 'module'>,
): FingerprintThread {
  return createTaskThread({
    ...options,
    name: 'fingerprints',
    module: threadModule(),
    limitMs: LIMIT_MS,
  })
}

/** TypeScript here, JavaScript in the published package. */
function threadModule(): URL {
  return new URL(`./thread${extname(import.meta.url)}`, import.meta.url)
}
