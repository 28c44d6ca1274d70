import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/load.ts'
import { CLEARING_TERMS, type ClearingTerms } from '../../src/core/base/clearing-terms.ts'
import { startService } from '../../src/service/service.ts'
import { startProcess } from '../../test/support/service-process.ts'

/** The ways in which the same task is done. `raw_again` shows what chance alone does. */
export const ARMS = ['raw', 'raw_again', 'packed', 'elided', 'clearing'] as const
export type Arm = (typeof ARMS)[number]

/** Whether the arm's requests reach the model unchanged: they pass through the service of `packed`. */
export const isRaw = (arm: Arm) => arm === 'raw' || arm === 'raw_again'

type Service = Exclude<Arm, 'raw' | 'raw_again'>
const serviceOf = (arm: Arm): Service => (arm === 'raw' || arm === 'raw_again' ? 'packed' : arm)

/** As the defaults are, with one mechanism at a time. */
const SHIPPED: Readonly<Record<Service, string>> = {
  packed: '[elision]\nenabled = false\n[clearing]\nenabled = false\n',
  elided: '[clearing]\nenabled = false\n[elision]\nin_proxies = true\n',
  clearing: '[elision]\nenabled = false\n[clearing]\n',
}
/** So that short tasks without pauses meet everything that may leave. */
const EAGER: Readonly<Record<Service, string>> = {
  packed: '',
  elided: 'min_block_bytes = 256\n[endpoint_overrides."*"]\nelision_min_saved_tokens = 1\n',
  clearing: 'enabled = true\n',
}
const EAGER_CLEARING = { ...CLEARING_TERMS, keepNewest: 2, cachedRead: 10, cacheWrite: 0.01 }

/** The tool that fetches is offered if something may be missing. */
const settingsOf = (service: Service) => `[proxy]
redeem = "${service === 'packed' ? 'off' : 'auto'}"
rewrite_timeout_ms = 600_000
[limits]
drain_grace_ms = 0
job_timeout_ms = 600_000
max_queue_wait_ms = 600_000
`

/** Services that stand between the agent and the model. */
export interface ArmServices {
  /** Where an arm's requests go, below the vendor's prefix. */
  url(arm: Arm): string
  /** What an arm's service reports of one session; `null` if it accounts for no request. */
  savings(arm: Arm, session: string): Promise<Savings | null>
  close(): Promise<void>
}

/** In uncached input tokens of the model. */
export interface Savings {
  readonly billed: number
  readonly without: number
}

/** Starts a service with the files of its configuration. */
export type StartArm = (
  files: { readonly config: string; readonly pipeline: string },
  upstream: string,
  vendor: Vendor,
  clearing?: ClearingTerms,
) => Promise<{ readonly url: string; close(): Promise<void> }>

type Vendor = 'anthropic' | 'openai'

/** A real service in a process of its own, or in this one if no file can say what it shall do. */
const startServe: StartArm = async ({ config, pipeline }, upstream, vendor, clearing) => {
  const env = {
    ...{ HAVERSACK_CONFIG: config, HAVERSACK_PIPELINE_CONFIG: pipeline },
    ...{ HAVERSACK_LOG_LEVEL: 'error', HAVERSACK_PORT: '0' },
    HAVERSACK_DATA_DIR: `${config}.data`,
    [`HAVERSACK_${vendor.toUpperCase()}_URL`]: upstream,
  }
  if (clearing !== undefined) return startService(loadConfig({ env }), { limits: { clearing } })
  const { child, exited, url } = await startProcess({ env })
  return {
    url,
    async close() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Starts the services of the arms. */
export async function startArms(
  arms: readonly Arm[],
  upstream: string,
  {
    vendor,
    isEager,
    start = startServe,
  }: { vendor: Vendor; isEager: boolean; start?: StartArm | undefined },
): Promise<ArmServices> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-trial-arms-'))
  const services = new Map<Service, Awaited<ReturnType<StartArm>>>()
  const close = async () => {
    for (const service of services.values()) await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const name of new Set(arms.map(serviceOf))) {
      const [config, pipeline] = ['toml', 'pipeline.toml'].map(end =>
        join(folder, `${name}.${end}`),
      )
      writeFileSync(config!, settingsOf(name))
      writeFileSync(pipeline!, SHIPPED[name] + (isEager ? EAGER[name] : ''))
      const files = { config: config!, pipeline: pipeline! }
      const clearing = isEager && name === 'clearing' ? EAGER_CLEARING : undefined
      services.set(name, await start(files, upstream, vendor, clearing))
    }
  } catch (error) {
    await close()
    throw error
  }
  const origin = (arm: Arm) => services.get(serviceOf(arm))!.url
  return {
    url: arm => `${origin(arm)}/${vendor}`,
    async savings(arm, session) {
      const response = await fetch(`${origin(arm)}/v1/savings?session=${session}`)
      const { session: all } = (await response.json()) as {
        readonly session: { readonly requests: number; readonly input_tokens: Savings }
      }
      return all.requests === 0 ? null : all.input_tokens
    },
    close,
  }
}
