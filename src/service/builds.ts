import { extname } from 'node:path'
import type { BuildTasks } from '../fingerprints/build/tasks.ts'
import type { Logger } from '../observability/logger.ts'
import { createTaskThread, type TaskThread } from '../runtime/task-thread.ts'

export interface BuildsOptions {
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>
  /** From the end of a turn to the next. */
  readonly lookMs: number
  isWanted(): boolean
  /** What is done each time. */
  turnOf(thread: Pick<TaskThread<BuildTasks>, 'run'>): () => Promise<void>
}

/** Telemetry of a window may be some GB. */
const LIMIT_MS = 600_000

/** Builds fingerprints in a thread, at once and from time to time, as long as it is not closed. */
export function openBuilds({ isWanted, turnOf, lookMs, logger }: BuildsOptions): {
  close(): Promise<void>
} {
  const thread = createTaskThread<BuildTasks>({
    name: 'fingerprint builds',
    module: new URL(
      `../fingerprints/build/tasks-thread${extname(import.meta.url)}`,
      import.meta.url,
    ),
    limitMs: LIMIT_MS,
    onBug: bug => logger.error({ bug }, 'unexpected error in the thread of fingerprint builds'),
    onLost: reason => logger.warn({ reason }, 'the thread of fingerprint builds was replaced'),
  })
  const turn = turnOf(thread)
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  /** A line for each change, not for each look. */
  let failure = ''

  async function look(): Promise<void> {
    try {
      if (isWanted()) await turn()
      failure = ''
    } catch (err) {
      const detail = err instanceof Error ? err.message : String(err)
      if (detail !== failure && !isClosed) logger.warn({ detail }, 'fingerprints are not built')
      failure = detail
    }
    if (!isClosed) timer = setTimeout(() => (looking = look()), lookMs).unref()
  }

  let looking = look()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      // Files are renamed into place when they are complete, so nothing is lost if the thread ends.
      await thread.close()
      await looking
    },
  }
}
