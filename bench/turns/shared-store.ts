import { startWithSentinels } from '../faults/servers.ts'
import { copyNextVersion } from '../support/next-version.ts'
import type { Shared } from './services.ts'

/** A store for three services, with what happens to it. */
export interface SharedStore extends Shared {
  /** Starts the primary again, with what is on its disk. */
  restart(): Promise<void>
  /** Lets a replica take the primary's place. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** Other work on the machine is no outage. */
const PATIENT = 'call_timeout_ms = 1_000\nwait_ms = 1_000\nrecord_wait_ms = 3_000\n'

export async function startSharedStore(): Promise<SharedStore> {
  const servers = await startWithSentinels('--appendonly', 'yes')
  const next = copyNextVersion()
  return {
    settings: servers.settings(0) + PATIENT,
    nextMain: next.main,
    restart: async () => (await servers.primary()).restart(),
    async failOver() {
      await servers.sentinels[0]!.ask('SENTINEL', 'FAILOVER', 'haversack')
    },
    async stop() {
      await servers.stop()
      next.remove()
    },
  }
}
