import { workerData } from 'node:worker_threads'
import { replaceWithBackup } from '../../src/console/replace-file.ts'

/**
 * Replaces each file at the same time as the other threads do. It notes which of the files it has
 * changed.
 */
const { files, text, threads, barrier, changed } = workerData as {
  readonly files: readonly string[]
  readonly text: string
  readonly threads: number
  /** How many have arrived, in all rounds. */
  readonly barrier: Int32Array
  readonly changed: Int32Array
}

for (const [round, file] of files.entries()) {
  const all = threads * (round + 1)
  Atomics.add(barrier, 0, 1)
  while (Atomics.load(barrier, 0) < all);
  try {
    replaceWithBackup(file, 'before', text)
    Atomics.add(changed, round, 1)
  } catch {
    // Another one was first.
  }
}
