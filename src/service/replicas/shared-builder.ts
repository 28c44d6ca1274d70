import { extname } from 'node:path'
import { createTogether, type TogetherOptions } from '../../fingerprints/build/build-together.ts'
import type { BuildTasks } from '../../fingerprints/build/tasks.ts'
import type { Logger } from '../../observability/logger.ts'
import { createTaskThread } from '../../runtime/task-thread.ts'

export interface SharedBuilderOptions extends Omit<TogetherOptions, 'thread' | 'now' | 'onBuilt'> {
  isWanted(): boolean
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>
}

/** How many times in an interval it is looked what is due. */
const LOOKS = 8
const MIN_LOOK_MS = 500
/** Telemetry of a window may be some GB. */
const LIMIT_MS = 600_000

/** Builds fingerprints with the other replicas, as long as it is not closed. */
export function openSharedBuilder({ isWanted, logger, ...options }: SharedBuilderOptions): {
  close(): Promise<void>
} {
  const thread = createTaskThread<BuildTasks>({
    name: 'fingerprint builds',
    module: new URL(
      `../../fingerprints/build/tasks-thread${extname(import.meta.url)}`,
      import.meta.url,
    ),
    limitMs: LIMIT_MS,
    onBug: bug => logger.error({ bug }, 'unexpected error in the thread of fingerprint builds'),
    onLost: reason => logger.warn({ reason }, 'the thread of fingerprint builds was replaced'),
  })
  const together = createTogether({
    ...options,
    thread,
    now: Date.now,
    onBuilt: built => logger.info({ built }, 'fingerprints built'),
  })
  const lookMs = Math.max(MIN_LOOK_MS, options.intervalMs / LOOKS)
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  /** A line for each change, not for each look. */
  let failure = ''

  async function look(): Promise<void> {
    try {
      if (isWanted()) await together.turn()
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
      await thread.close()
      await looking
    },
  }
}
