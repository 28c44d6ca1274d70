import { hash } from 'node:crypto'
import { setTimeout as pauseFor } from 'node:timers/promises'
import type { ArmsAlarm, ArmsOptions } from '../../book/arms/arms.ts'
import type { TunedChange } from '../../lab/versions/tuned.ts'
import type { Logger } from '../../observability/logger.ts'

const RULE = 'arms'
/** Tries while another process changes the tuned file. */
const TRIES = 20
const PAUSE_MS = 250

export interface SwitchOffOptions {
  readonly dataDir: string
  readonly now: () => Date
  readonly logger: Pick<Logger, 'error'>
  /** Waits between two tries. */
  readonly pause?: (ms: number) => Promise<void>
}

/**
 * Switches elision off for a class by a version of the tenant's tuned file. A person, or a new
 * analysis, turns it on again. Returns whether it was switched off now.
 */
export function createSwitchOff(options: SwitchOffOptions): ArmsOptions['switchOff'] {
  const { dataDir, now, logger, pause = ms => pauseFor(ms) } = options

  /** The lock of the file is waited for here, so that the event loop turns meanwhile. */
  async function apply(tenant: string, change: TunedChange): Promise<boolean> {
    const { openTuned } = await import('../../lab/versions/tuned.ts')
    const { TunedBusy } = await import('../../lab/versions/tuned-file.ts')
    const inputs = hash('sha256', change.evidence, 'hex')
    for (let tried = 1; ; tried++) {
      try {
        const terms = { inputs, generation: '', now: now() }
        return openTuned(dataDir, tenant, 0).apply([change], terms) !== null
      } catch (error) {
        if (!(error instanceof TunedBusy) || tried === TRIES) throw error
        await pause(PAUSE_MS)
      }
    }
  }

  return async ({ tenant, class: name, direct, high }: Omit<ArmsAlarm, 'isReverted'>) => {
    try {
      const evidence = `left out ${Math.round(direct)} tokens, net at most ${Math.round(high)}`
      const key = ['endpoint_overrides', name, 'elision_enabled']
      return await apply(tenant, { key, to: false, rule: RULE, evidence })
    } catch (err) {
      logger.error({ err, tenant, class: name }, 'elision of a class could not be switched off')
      return false
    }
  }
}
