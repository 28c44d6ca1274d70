import { createRandom } from '../../../src/lab/bill/statistics.ts'
import { Agent, COUNTED, type Findings } from './agent.ts'
import { FAILOVERS, FAULTS, type FaultCast } from './fault-table.ts'
import { Pacer } from './pacer.ts'
import { watchPulse } from './pulse.ts'
import type { Replicas } from './replicas.ts'
import { CALL_MS, setStage } from './stage.ts'
import { Talker } from './talker.ts'

export interface FaultRun extends Findings {
  readonly operations: number
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>
  readonly requests: Replicas['counts']
  /** How often the machine had no time for the servers. */
  readonly starved: number
}

export interface PlayOptions {
  /** At least; more until each fault has happened once. */
  readonly operations: number
  readonly seed: number
  /** Operations between two faults. */
  readonly each: number
  /** Names of faults, in their order; again from the first one after the last. */
  readonly faults: readonly string[]
  /** Whether there are a primary, two replicas and three Sentinels, instead of one server. */
  readonly hasSentinels?: boolean
  /** Agents of each of two tenants that use the same names and texts. */
  readonly agents: number
}

/** Plays a run: three services that share Redis, agents that check what they get, and faults. */
export async function playFaults(options: PlayOptions): Promise<FaultRun> {
  const { operations, seed, each, faults, agents, hasSentinels = false } = options
  const table = hasSentinels ? FAILOVERS : FAULTS
  const random = createRandom(seed)
  const begunMs = performance.now()
  const findings: Findings = {
    counts: Object.fromEntries(COUNTED.map(name => [name, 0])) as Findings['counts'],
    emptiedMs: Number.NEGATIVE_INFINITY,
    calmSinceMs: 0,
    violations: [],
    disturbances: [],
    nowMs: () => Math.round(performance.now() - begunMs),
  }
  const happened: Record<string, number> = {}
  const stage = await setStage({ random, hasSentinels, findings })
  const { servers, replicas, vendor, tenants, foreign, paced, purged } = stage
  try {
    const common = { replicas, random, findings }
    const crew = tenants.flatMap(({ tenant, headers }) =>
      Array.from({ length: agents }, (_, i) => {
        const own = { session: `agent {${i}}`, tenant, headers, foreign }
        return new Agent({ ...common, ...own })
      }),
    )
    const talkers = tenants.map(({ tenant, headers }, i) => {
      return new Talker({ ...common, tenant, headers, vendor, name: `talk ${i}` })
    })
    const passing = new Agent({ ...common, ...purged, session: 'agent {0}', foreign })
    const pacer = new Pacer({ headers: paced, replicas, findings })
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
    let starved = 0
    const endPulse = watchPulse(servers, CALL_MS / 2, () => {
      if (running.size > 0) return
      starved++
      findings.calmSinceMs = findings.nowMs()
    })
    const work = async (agent: Pick<Agent, 'act'>) => {
      while (done < operations || next < faults.length) {
        done++
        await agent.act()
        if (faults.length === 0 || done < due || running.size > 0) continue
        due = done + each
        const name = faults[next++ % faults.length]!
        happened[name] = (happened[name] ?? 0) + 1
        process.stderr.write(`${findings.nowMs()} ${name} at ${new Date().toISOString()}\n`)
        findings.disturbances.push(findings.nowMs())
        // The other agents continue meanwhile.
        const fault = table[name]!(cast).finally(() => {
          running.delete(fault)
          findings.disturbances.push(findings.nowMs())
          if (running.size === 0) findings.calmSinceMs = findings.nowMs()
        })
        running.add(fault)
        findings.calmSinceMs = null
        await fault
      }
    }
    await Promise.all([...crew, ...talkers, passing, pacer].map(work))
    await Promise.all(running)
    endPulse()
    return { ...findings, operations: done, faults: happened, requests: replicas.counts, starved }
  } finally {
    await stage.close()
  }
}
