import { Arms, type ArmsSettings } from '../../book/arms/arms.ts'
import { type AllLayers, readWritten } from '../../config/layers/read-all.ts'
import { createSteadyClock } from '../../core/base/steady-clock.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Store } from '../../store/store.ts'
import type { Configurations } from '../configuration/configurations.ts'
import { createSwitchOff } from './switch-off.ts'

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
