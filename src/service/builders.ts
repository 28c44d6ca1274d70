import { createSavings } from '../book/bill/savings.ts'
import type { Config } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import { layersOfService } from '../config/layers/project-file.ts'
import { readAllLayers } from '../config/layers/read-all.ts'
import type { LayersPlace } from '../config/layers/read-layers.ts'
import { attachRewriteMemory } from '../core/conversation/rewrite/rewrite-memory.ts'
import { attachSessions } from '../core/sessions/turn/shared-sessions.ts'
import { createBaseApp } from '../http/base-app.ts'
import type { AppDeps } from '../http/context.ts'
import { createVendorProxies } from '../http/proxy/vendor-proxies.ts'
import type { Route } from '../http/routes/route.ts'
import { createHttpServer } from '../http/server.ts'
import type { AutoTune, AutoTuneOptions } from '../lab/nightly/auto-tune.ts'
import { createMetrics } from '../observability/metrics.ts'
import type { Tracing } from '../observability/tracing.ts'
import { createLateThreads } from '../pool/late-threads.ts'
import { openServiceArms } from './book/arms.ts'
import { openConfiguredBook } from './book/book.ts'
import { telemetryKeyFor } from './book/telemetry.ts'
import { type ConfigurationsOptions, FileConfigurations } from './configuration/configurations.ts'
import { openConfiguredFingerprints } from './fingerprints.ts'
import { openConfiguredKeys } from './keys.ts'
import { createConfiguredAdmission, createConfiguredPool, warmUp } from './pool.ts'
import { createReloading } from './reload.ts'
import { openServiceStore } from './store.ts'
import { startConfiguredThreads } from './threads.ts'

/** The builders that the composition root calls, each once. A caller may replace any of them. */
export const BUILDERS = {
  layersPlaceOf,
  readAllLayers,
  openConfigurations,
  openConfiguredKeys,
  telemetryKeyFor,
  createMetrics,
  startConfiguredThreads,
  attachSessions,
  openServiceStore,
  startConfiguredTracing,
  createSavings,
  openServiceArms,
  openConfiguredFingerprints,
  openConfiguredBook,
  createConfiguredPool,
  createConfiguredAdmission,
  createVendorProxies,
  attachRewriteMemory,
  createApp,
  createHttpServer,
  warmUp,
  createReloading,
  openAutoTune,
} as const

/** Proxies that are alone start without the other routes. */
async function createApp(deps: AppDeps, extra?: readonly Route[]) {
  if (deps.proxiesBelow !== undefined) return createBaseApp(deps)
  const { createApp: createWholeApp } = await import('../http/app.ts')
  return createWholeApp(deps, extra)
}

/** Loads what analyzes logs. It is in no hurry, so the start does not wait for it. */
function openAutoTune(options: AutoTuneOptions): AutoTune {
  const opened = import('../lab/nightly/auto-tune.ts').then(lab => lab.openAutoTune(options))
  return { close: async () => (await opened).close() }
}

/** Where the files are that say how the pipeline chooses. */
function layersPlaceOf({ data_dir, pipeline_config_file }: Config): LayersPlace {
  return layersOfService({ data_dir, pipeline_config_file }, process.cwd())
}

function openConfigurations(options: ConfigurationsOptions): FileConfigurations {
  return new FileConfigurations(options)
}

export type Builders = typeof BUILDERS

/** For a service that is ready before it has a thread: the first is started for the first batch. */
export const LATE_THREADS: Pick<Builders, 'startConfiguredThreads' | 'warmUp'> = {
  startConfiguredThreads: (config, options) =>
    startConfiguredThreads(config, options, createLateThreads),
  warmUp: () => Promise.resolve(),
}

/**
 * Loads the packages for traces, which take longer to load than all others, only if they are on.
 */
async function startConfiguredTracing(env: Env): Promise<Tracing | null> {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? ''
  if (endpoint === '') return null
  const { startTracing } = await import('../observability/tracing.ts')
  return startTracing(endpoint, shareOf(env['OTEL_TRACES_SAMPLER_ARG']))
}

/** Which share of requests starts a trace; all if the text is no share. */
function shareOf(text = ''): number {
  const share = text.trim() === '' ? 1 : Number(text)
  return share >= 0 && share <= 1 ? share : 1
}
