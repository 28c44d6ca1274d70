import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Random } from '../../../src/lab/bill/statistics.ts'
import { keyFor, writeKeysFile } from '../keys.ts'
import { PROCESS_SETTINGS } from '../service-process.ts'
import { type RecordingVendor, startRecordingVendor } from '../turns/recording-vendor.ts'
import type { Findings } from './agent.ts'
import { copyNextVersion } from './next-version.ts'
import { PACE } from './pacer.ts'
import { filesOfTenant, type TenantPurge, tenantPurge } from './purge-tenant.ts'
import { Replicas } from './replicas.ts'
import { type Servers, startOne, startWithSentinels } from './servers.ts'

type Headers = Readonly<Record<string, string>>

/** What a run is played on: servers, replicas, a vendor, and keys of tenants. */
export interface Stage {
  readonly servers: Servers
  readonly replicas: Replicas
  readonly vendor: RecordingVendor
  /** Two tenants that use the same names and texts. */
  readonly tenants: readonly { readonly tenant: string; readonly headers: Headers }[]
  /** A tenant that has nothing. */
  readonly foreign: Headers
  /** A key with a rate. */
  readonly paced: Headers
  /** A tenant that is purged now and then. */
  readonly purged: {
    readonly tenant: string
    readonly headers: Headers
    readonly purge: TenantPurge
    /** What replicas have of it. */
    files(): readonly string[]
  }
  close(): Promise<void>
}

export interface StageOptions {
  readonly random: Random
  readonly hasSentinels: boolean
  readonly findings: Findings
}

const SERVICES = 3
/** How long a call of a service may take. */
export const CALL_MS = 100
/** After so long without an answer a primary counts as down, also on a busy machine. */
const DOWN_MS = 1_000
const SKEWED_CLOCK = new URL('skewed-clock.ts', import.meta.url).href
/** The configuration of all services. */
const COMMON = '[telemetry]\nsample_rate = 1\n'
/** What the next version would write otherwise than this one. */
const OTHER_PIPELINE = '[mckp]\nformats_enabled = ["json_compact", "ndjson"]\n'

/** Starts all of it. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { random, hasSentinels, findings } = options
  const folder = mkdtempSync(join(tmpdir(), 'haversack-faults-'))
  const keyOf = (tenant: string, more: Parameters<typeof keyFor>[1] = {}) => ({
    tenant,
    ...keyFor(tenant, { scopes: ['encode', 'retrieve', 'proxy'], ...more }),
  })
  const tenants = [keyOf('one'), keyOf('two')]
  const [foreign, purged, paced] = [keyOf('three'), keyOf('purged'), keyOf('paced', PACE)]
  const keysFile = join(folder, 'keys.json')
  writeKeysFile(keysFile, ...tenants, foreign, purged, paced)
  const servers = await (hasSentinels ? startWithSentinels(SERVICES, DOWN_MS) : startOne(SERVICES))
  const base = readFileSync(PROCESS_SETTINGS, 'utf8')
  const next = copyNextVersion()
  const vendor = await startRecordingVendor()
  const pipeline = join(folder, 'pipeline.toml')
  writeFileSync(pipeline, OTHER_PIPELINE)
  const folders = Array.from({ length: SERVICES }, (_, i) => join(folder, `data-${i}`))

  /** The configuration of a service; -1: of an operator's command. */
  function configOf(service: number): string {
    const file = join(folder, `${service}.toml`)
    const limits = `call_timeout_ms = ${CALL_MS}\n`
    writeFileSync(file, `${base}\n${COMMON}[store.redis]\n${servers.settings(service)}${limits}`)
    return file
  }
  const optionsOf = (service: number, isNext: boolean) => {
    findings.disturbances.push(findings.nowMs())
    const env = {
      HAVERSACK_CONFIG: configOf(service),
      HAVERSACK_DATA_DIR: folders[service],
      HAVERSACK_KEYS_FILE: keysFile,
      HAVERSACK_ANTHROPIC_URL: vendor.url,
    }
    // The clock of one is wrong, whatever its version is.
    const execArgv = service === 0 ? ['--import', SKEWED_CLOCK] : []
    if (!isNext) return { env, execArgv }
    return { env: { ...env, HAVERSACK_PIPELINE_CONFIG: pipeline }, execArgv, main: next.main }
  }
  const replicas = new Replicas(random, optionsOf, what => {
    findings.violations.push(`a service ${what}`)
    process.stderr.write(`${findings.nowMs()} violation: a service ${what}\n`)
  })

  async function close(): Promise<void> {
    await replicas.stop()
    await servers.stop()
    await vendor.close()
    next.remove()
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    await replicas.start(SERVICES)
    const env = { HAVERSACK_CONFIG: configOf(-1), HAVERSACK_DATA_DIR: join(folder, 'operator') }
    const purge = tenantPurge(purged.tenant, env)
    return {
      ...{ servers, replicas, vendor, tenants, close },
      ...{ foreign: foreign.headers, paced: paced.headers },
      purged: { ...purged, purge, files: () => filesOfTenant(folders, purged.tenant) },
    }
  } catch (error) {
    await close()
    throw error
  }
}
