import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyFor, writeKeysFile } from '../../test/support/keys.ts'
import { PROCESS_SETTINGS } from '../../test/support/service-process.ts'
import { createRandom } from '../support/random.ts'
import { Agent, type Findings } from './agent.ts'
import { FAILOVERS, FAULTS, type FaultCast } from './fault-table.ts'
import { Replicas } from './replicas.ts'
import { startOne, startWithSentinels } from './servers.ts'

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
  const scopes = ['encode', 'retrieve'] as const
  const keys = ['one', 'two', 'three'].map(tenant => ({
    tenant,
    ...keyFor(tenant, { scopes: [...scopes] }),
  }))
  const keysFile = join(folder, 'keys.json')
  writeKeysFile(keysFile, ...keys)
  const servers = await (hasSentinels ? startWithSentinels() : startOne(SERVICES))
  const base = readFileSync(PROCESS_SETTINGS, 'utf8')
  const replicas = new Replicas(random, stays, service => {
    const file = join(folder, `${service}.toml`)
    writeFileSync(file, `${base}\n[store.redis]\n${servers.settings(service)}`)
    return { HAVERSACK_CONFIG: file, HAVERSACK_KEYS_FILE: keysFile }
  })
  const findings: Findings = {
    counts: { encodes: 0, references: 0, retrieves: 0, compactions: 0, lost: 0 },
    emptiedMs: Number.NEGATIVE_INFINITY,
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
    const work = async (agent: Agent) => {
      while (done < operations || next < faults.length) {
        done++
        await agent.act()
        if (faults.length === 0 || done < due || running.size >= atOnce) continue
        due = done + each
        const name = faults[next++ % faults.length]!
        happened[name] = (happened[name] ?? 0) + 1
        process.stderr.write(`${findings.nowMs()} ${name}\n`)
        // The other agents continue meanwhile.
        const fault = table[name]!(cast).finally(() => running.delete(fault))
        running.add(fault)
        await fault
      }
    }
    await Promise.all(crew.map(work))
    await Promise.all(running)
    return { ...findings, faults: happened, requests: replicas.counts }
  } finally {
    await replicas.stop()
    await servers.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
