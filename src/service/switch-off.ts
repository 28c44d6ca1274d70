import { hash } from 'node:crypto'
import type { ArmsAlarm, ArmsOptions } from '../arms/arms.ts'
import type { Logger } from '../observability/logger.ts'
import { openTuned } from '../tune/versions/tuned.ts'

const RULE = 'arms'

/**
 * Switches elision off for a class by a version of the tenant's tuned file. A person, or a new
 * analysis, turns it on again. Returns whether it was switched off now.
 */
export function createSwitchOff(
  dataDir: string,
  now: () => Date,
  logger: Pick<Logger, 'error'>,
): ArmsOptions['switchOff'] {
  return async ({ tenant, class: name, direct, high }: Omit<ArmsAlarm, 'isReverted'>) => {
    try {
      const evidence = `left out ${Math.round(direct)} tokens, net at most ${Math.round(high)}`
      const key = ['endpoint_overrides', name, 'elision_enabled']
      const version = openTuned(dataDir, tenant).apply([{ key, to: false, rule: RULE, evidence }], {
        inputs: hash('sha256', evidence, 'hex'),
        generation: '',
        now: now(),
      })
      return version !== null
    } catch (err) {
      logger.error({ err, tenant, class: name }, 'elision of a class could not be switched off')
      return false
    }
  }
}
