import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Book, type BookOptions } from '../../../src/book/book.ts'
import type { BookThread } from '../../../src/book/rows/ledger.ts'
import { createTasks } from '../../../src/book/tasks.ts'

/** A folder that goes with the test. */
export function ledgerFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-ledger-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs tasks in this thread. */
export function inlineTasks(): BookThread {
  const tasks = createTasks()
  return {
    run: async (_by, name, input) => (await tasks[name](input as never)) as never,
    close: async () => {},
  }
}

export const LIMITS = { max_rows: 1_000, max_bytes: 2 ** 28, ttl_ms: 604_800_000, days: 400 }

/** A ledger without a thread. */
export function ownLedger(options: Partial<BookOptions> = {}) {
  const failures: string[] = []
  const dropped: number[] = []
  const ledger = new Book({
    folder: options.folder ?? ledgerFolder(),
    limits: LIMITS,
    now: Date.now,
    onUnwritten: detail => failures.push(detail),
    onDropped: count => dropped.push(count),
    onBug: bug => failures.push(bug),
    thread: inlineTasks(),
    ...options,
  })
  onTestFinished(() => ledger.close())
  return { ledger, failures, dropped }
}
