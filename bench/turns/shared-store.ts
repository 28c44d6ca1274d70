import { setTimeout as sleep } from 'node:timers/promises'
import { startWithSentinels } from '../../test/support/replica-faults/servers.ts'
import { copyNextVersion } from '../support/next-version.ts'
import type { Shared } from './services.ts'

/** A store for three services, with what happens to it. */
export interface SharedStore extends Shared {
  /** Kills the primary, and starts it again a second later with what is on its disk. */
  restart(): Promise<void>
  /** Kills the primary, so that a replica takes its place; it comes back as a replica. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** Other work on the machine is no outage. */
const PATIENT = 'call_timeout_ms = 1_000\n'
const SERVICES = 3
/** After so long without an answer a primary counts as down. */
const DOWN_MS = 2_500
const RESTART_MS = 1_000
const LEFT_MS = 500

export async function startSharedStore(): Promise<SharedStore> {
  const servers = await startWithSentinels(SERVICES, DOWN_MS, '--appendonly', 'yes')
  const next = copyNextVersion()
  return {
    settings: servers.settings(-1) + PATIENT,
    nextMain: next.main,
    restart: async () => (await servers.primary()).restart(RESTART_MS),
    async failOver() {
      const primary = await servers.primary()
      await primary.restart(0, async () => {
        while ((await servers.primary()) === primary) await sleep(LEFT_MS)
      })
    },
    async stop() {
      await servers.stop()
      next.remove()
    },
  }
}
