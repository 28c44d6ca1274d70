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

/** Whether the arm's requests reach the model unchanged. */
export const isRaw = (arm: Arm) => arm === 'raw' || arm === 'raw_again'

const LOSSLESS = '[elision]\nenabled = false\n[clearing]\nenabled = false\n'
/** As the defaults are, with one mechanism at a time. */
const SHIPPED: Readonly<Record<Arm, string>> = {
  ...{ raw: LOSSLESS, raw_again: LOSSLESS, packed: LOSSLESS },
  elided: '[clearing]\nenabled = false\n[elision]\nin_proxies = true\n',
  clearing: '[elision]\nenabled = false\n[clearing]\n',
}
/** So that short tasks without pauses meet everything that may leave. */
const EAGER: Readonly<Record<Arm, string>> = {
  ...SHIPPED,
  elided: `${SHIPPED.elided}min_block_bytes = 256\n[endpoint_overrides."*"]\nelision_min_saved_tokens = 1\n`,
  clearing: `${SHIPPED.clearing}enabled = true\n`,
}
const EAGER_CLEARING = { ...CLEARING_TERMS, keepNewest: 2, cachedRead: 10, cacheWrite: 0.01 }

/** The tool that fetches is offered if something may be missing. */
const settingsOf = (arm: Arm) => `[proxy]
redeem = "${SHIPPED[arm] === LOSSLESS ? 'off' : 'auto'}"
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

/** A service of one arm. */
export interface ArmService {
  readonly url: string
  close(): Promise<void>
}

/** How a service is started, with the files of its configuration. */
export type StartArm = (
  files: { config: string; pipeline: string },
  upstream: string,
  vendor: Vendor,
  clearing?: ClearingTerms,
) => Promise<ArmService>

type Vendor = 'anthropic' | 'openai'

/** A real service in a process of its own, or in this one if no file can say what it shall do. */
const startServe: StartArm = async ({ config, pipeline }, upstream, vendor, clearing) => {
  const env = {
    ...{ HAVERSACK_CONFIG: config, HAVERSACK_PIPELINE_CONFIG: pipeline },
    HAVERSACK_LOG_LEVEL: 'error',
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

/** Starts a service for each arm; both raw ones pass through that of `packed` by a header. */
export async function startArms(
  arms: readonly Arm[],
  upstream: string,
  {
    vendor,
    isEager,
    start = startServe,
  }: {
    readonly vendor: Vendor
    readonly isEager: boolean
    readonly start?: StartArm | undefined
  },
): Promise<ArmServices> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-trial-arms-'))
  const serviceOf = (arm: Arm): Arm => (isRaw(arm) ? 'packed' : arm)
  const services = new Map<Arm, ArmService>()
  const close = async () => {
    for (const service of services.values()) await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const arm of new Set(arms.map(serviceOf))) {
      const files = {
        config: join(folder, `${arm}.toml`),
        pipeline: join(folder, `${arm}.pipeline.toml`),
      }
      writeFileSync(files.config, settingsOf(arm))
      writeFileSync(files.pipeline, (isEager ? EAGER : SHIPPED)[arm])
      const clearing = isEager && arm === 'clearing' ? EAGER_CLEARING : undefined
      services.set(arm, await start(files, upstream, vendor, clearing))
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
