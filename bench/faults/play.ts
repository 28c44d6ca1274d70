import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyFor, writeKeysFile } from '../../test/support/keys.ts'
import { PROCESS_SETTINGS } from '../../test/support/service-process.ts'
import { copyNextVersion } from '../support/next-version.ts'
import { createRandom } from '../support/random.ts'
import { startRecordingVendor } from '../turns/recording-vendor.ts'
import { Agent, COUNTED, type Findings } from './agent.ts'
import { FAILOVERS, FAULTS, type FaultCast } from './fault-table.ts'
import { Replicas } from './replicas.ts'
import { startOne, startWithSentinels } from './servers.ts'
import { Talker } from './talker.ts'

export interface FaultRun extends Findings {
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>
  readonly requests: Replicas['counts']
}

export interface PlayOptions {
  /** At least; more until each fault has happened once. */
  readonly operations: number
  readonly seed: number
  /** Operations between two faults. */
  readonly each: number
  /** Names of faults, in their order; again from the first one after the last. */
  readonly faults: readonly string[]
  /** Of 100 requests to a session, so many come to the same replica; the others to any. */
  readonly stays?: number
  /** How many of them may go on at the same time. */
  readonly atOnce?: number
  /** Whether there are a primary, two replicas and three Sentinels, instead of one server. */
  readonly hasSentinels?: boolean
  /** Agents of each of two tenants, who use the same names and texts. */
  readonly agents: number
}

const SERVICES = 3
/** After so long without an answer a primary counts as down, also on a busy machine. */
const DOWN_MS = 1_000
const SKEWED_CLOCK = new URL('skewed-clock.ts', import.meta.url).href
/** What the next version would write otherwise than this one. */
const OTHER_PIPELINE = '[mckp]\nformats_enabled = ["json_compact", "ndjson"]\n'

/** Plays a run: three services that share Redis, agents that check what they get, and faults. */
export async function playFaults(options: PlayOptions): Promise<FaultRun> {
  const {
    operations,
    seed,
    each,
    faults,
    agents,
    atOnce = 1,
    hasSentinels = false,
    stays = 0,
  } = options
  const table = hasSentinels ? FAILOVERS : FAULTS
  const random = createRandom(seed)
  const begunMs = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'haversack-faults-'))
  const scopes = ['encode', 'retrieve', 'proxy'] as const
  const keys = ['one', 'two', 'three'].map(tenant => ({
    tenant,
    ...keyFor(tenant, { scopes: [...scopes] }),
  }))
  const keysFile = join(folder, 'keys.json')
  writeKeysFile(keysFile, ...keys)
  const servers = await (hasSentinels ? startWithSentinels(DOWN_MS) : startOne(SERVICES))
  const base = readFileSync(PROCESS_SETTINGS, 'utf8')
  const next = copyNextVersion()
  const vendor = await startRecordingVendor()
  const pipeline = join(folder, 'pipeline.toml')
  writeFileSync(pipeline, OTHER_PIPELINE)
  const optionsOf = (service: number, isNext: boolean) => {
    const file = join(folder, `${service}.toml`)
    writeFileSync(file, `${base}\n[store.redis]\n${servers.settings(service)}`)
    const env = {
      HAVERSACK_CONFIG: file,
      HAVERSACK_KEYS_FILE: keysFile,
      HAVERSACK_ANTHROPIC_URL: vendor.url,
    }
    // The clock of one is wrong, whatever its version is.
    const execArgv = service === 0 ? ['--import', SKEWED_CLOCK] : []
    if (!isNext) return { env, execArgv }
    return { env: { ...env, HAVERSACK_PIPELINE_CONFIG: pipeline }, execArgv, main: next.main }
  }
  const replicas = new Replicas(random, stays, optionsOf, what => {
    findings.violations.push(`a service ${what}`)
    process.stderr.write(`${findings.nowMs()} violation: a service ${what}\n`)
  })
  const findings: Findings = {
    counts: Object.fromEntries(COUNTED.map(name => [name, 0])) as Findings['counts'],
    emptiedMs: Number.NEGATIVE_INFINITY,
    calmSinceMs: 0,
    violations: [],
    nowMs: () => Math.round(performance.now() - begunMs),
  }
  const happened: Record<string, number> = {}
  try {
    await replicas.start(SERVICES)
    const foreign = keys[2]!.headers
    const crew = keys.slice(0, 2).flatMap(({ tenant, headers }) =>
      Array.from({ length: agents }, (_, i) => {
        return new Agent({
          session: `agent {${i}}`,
          tenant,
          home: i,
          headers,
          foreign,
          replicas,
          random,
          findings,
        })
      }),
    )
    const talkers = keys.slice(0, 2).map(({ tenant, headers }, i) => {
      const options = { tenant, headers, replicas, vendor, random, findings }
      return new Talker({ ...options, name: `talk ${i}` })
    })
    let done = 0
    let due = each
    const running = new Set<Promise<void>>()
    const cast: FaultCast = {
      ...{ servers, replicas, random },
      onEmptied() {
        findings.emptiedMs = findings.nowMs()
      },
    }
    let next = 0
    const work = async (agent: Pick<Agent, 'act'>) => {
      while (done < operations || next < faults.length) {
        done++
        await agent.act()
        if (faults.length === 0 || done < due || running.size >= atOnce) continue
        due = done + each
        const name = faults[next++ % faults.length]!
        happened[name] = (happened[name] ?? 0) + 1
        process.stderr.write(`${findings.nowMs()} ${name}\n`)
        // The other agents continue meanwhile.
        const fault = table[name]!(cast).finally(() => {
          running.delete(fault)
          if (running.size === 0) findings.calmSinceMs = findings.nowMs()
        })
        running.add(fault)
        findings.calmSinceMs = null
        await fault
      }
    }
    await Promise.all([...crew, ...talkers].map(work))
    await Promise.all(running)
    return { ...findings, faults: happened, requests: replicas.counts }
  } finally {
    await replicas.stop()
    await servers.stop()
    await vendor.close()
    next.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}
