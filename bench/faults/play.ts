import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyFor, writeKeysFile } from '../../test/support/keys.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import { createRandom } from '../support/random.ts'
import { Agent, type Findings } from './agent.ts'
import { FAULTS } from './fault-table.ts'
import { Replicas } from './replicas.ts'

export interface FaultRun extends Findings {
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>
  readonly requests: Replicas['counts']
}

export interface PlayOptions {
  readonly operations: number
  readonly seed: number
  /** Operations between two faults. */
  readonly each: number
  /** Names of faults, in their order; again from the first one after the last. */
  readonly faults: readonly string[]
  /** Agents of each of two tenants, who use the same names and texts. */
  readonly agents: number
}

/** Plays a run: three services on one Redis, agents that check what they get, and faults. */
export async function playFaults(options: PlayOptions): Promise<FaultRun> {
  const { operations, seed, each, faults, agents } = options
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
  const redis = await startRedis()
  const env = { HAVERSACK_REDIS_URL: redis.url, HAVERSACK_KEYS_FILE: keysFile }
  const replicas = new Replicas(random, env)
  const findings: Findings = {
    counts: { encodes: 0, references: 0, retrieves: 0, compactions: 0 },
    violations: [],
    nowMs: () => Math.round(performance.now() - begunMs),
  }
  const happened: Record<string, number> = {}
  try {
    await replicas.start(3)
    const foreign = keys[2]!.headers
    const crew = keys.slice(0, 2).flatMap(({ tenant, headers }) =>
      Array.from({ length: agents }, (_, i) => {
        return new Agent({
          session: `agent {${i}}`,
          tenant,
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
    let running: Promise<void> | null = null
    let next = 0
    const work = async (agent: Agent) => {
      while (done < operations) {
        done++
        await agent.act()
        if (faults.length === 0 || done < due || running !== null) continue
        due = done + each
        const name = faults[next++ % faults.length]!
        happened[name] = (happened[name] ?? 0) + 1
        process.stderr.write(`${findings.nowMs()} ${name}\n`)
        // One at a time; the agents continue meanwhile.
        running = FAULTS[name]!({ redis, replicas }).finally(() => {
          running = null
        })
        await running
      }
    }
    await Promise.all(crew.map(work))
    await running
    return { ...findings, faults: happened, requests: replicas.counts }
  } finally {
    await replicas.stop()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
