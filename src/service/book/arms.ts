import { hash } from 'node:crypto'
import { setTimeout as pauseFor } from 'node:timers/promises'
import { Arms, type ArmsAlarm, type ArmsOptions, type ArmsSettings } from '../../book/arms/arms.ts'
import { type AllLayers, readWritten } from '../../config/layers/read-all.ts'
import { createSteadyClock } from '../../core/base/steady-clock.ts'
import type { TunedChange } from '../../lab/versions/tuned.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Store } from '../../store/store.ts'
import type { Configurations } from '../configuration/configurations.ts'

export interface ServiceArmsOptions {
  readonly store: Store
  readonly configurations: Pick<Configurations, 'newest' | 'reload'>
  /** What was read at the start. */
  readonly start: AllLayers
  readonly dataDir: string
  readonly metrics: Pick<Metrics, 'arms'>
  readonly logger: Pick<Logger, 'warn' | 'error'>
  onBug(error: unknown): void
}

/** The arms of a service: what they find goes to the log, the metrics and the tuned files. */
export function openServiceArms(options: ServiceArmsOptions): Arms {
  const { store, configurations, start, dataDir, metrics, logger, onBug } = options
  const switchOff = createSwitchOff({ dataDir, now: () => new Date(), logger })
  return new Arms({
    store,
    settings: settingsIn(configurations, start),
    now: Date.now,
    steadyNow: createSteadyClock({ wall: Date.now, stopwatch: () => performance.now() }),
    async switchOff(alarm) {
      const isOff = await switchOff(alarm)
      if (isOff) await configurations.reload()
      return isOff
    },
    onRecord: metrics.arms.results,
    onAlarm(alarm) {
      metrics.arms.alarm(alarm.isReverted)
      logger.warn({ event: 'arms_alarm', ...alarm }, 'elision costs more than it saves')
    },
    onUnsaved: detail => logger.warn({ detail }, 'the sums of the arms cannot be written'),
    onBug,
  })
}

/** Configurations whose settings are at hand. */
const REMEMBERED = 64

/** The settings of a tenant, in the newest configuration. */
function settingsIn(
  configurations: Pick<Configurations, 'newest'>,
  { common }: AllLayers,
): (tenant: string) => ArmsSettings {
  const known = new Map<string, ArmsSettings>()
  return tenant => {
    const written = configurations.newest(tenant) ?? common
    const settings = known.get(written.id) ?? readWritten(written).arms
    if (known.size >= REMEMBERED) known.clear()
    known.set(written.id, settings)
    return settings
  }
}

const RULE = 'arms'
/** Tries while another process changes the tuned file. */
const TRIES = 20
const PAUSE_MS = 250

interface SwitchOffOptions {
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
    const { Tuned, TunedBusy } = await import('../../lab/versions/tuned.ts')
    const inputs = hash('sha256', change.evidence, 'hex')
    for (let tried = 1; ; tried++) {
      try {
        const terms = { inputs, generation: '', now: now() }
        return new Tuned(dataDir, tenant, 0).apply([change], terms) !== null
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
