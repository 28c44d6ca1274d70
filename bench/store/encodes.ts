import { median } from '../../src/lab/bill/statistics.ts'
import { type RedisProcess, startRedis } from '../../test/support/redis-server.ts'
import { cpuUsOf, measuredBy } from '../support/machine.ts'
import { tableOf } from '../support/markdown-table.ts'
import { runPlan, type Server, startServer } from '../support/processes.ts'
import type { SessionLoad, SessionPlan } from '../support/session-load.ts'

const CONNECTIONS = [1, 32] as const

/** Services with one store, and whether each result of a session goes to the next of them. */
interface Team {
  readonly label: string
  readonly redis: RedisProcess | undefined
  readonly services: readonly Server[]
  readonly takesTurns: boolean
  readonly found: Map<number, Figures[]>
}

type Figures = Readonly<Record<string, number>>

/**
 * Encodes of 4 KiB with a session, half of them repeated: a service on SQLite, one on Redis, and
 * three on one Redis with sessions that stay and with sessions that move, in turn in each round.
 * Times are those of an encode.
 */
export async function encodes(rounds: number, seconds: number): Promise<string> {
  const teams = [
    await startTeam('SQLite', 1),
    await startTeam('Redis', 1),
    await startTeam('Redis, three', 3),
    await startTeam('Redis, three, sessions move', 3, true),
  ]
  try {
    let run = 0
    for (let round = 0; round <= rounds; round++) {
      for (const connections of CONNECTIONS) {
        for (const team of teams) {
          const figures = await measure(team, { connections, seconds, run: ++run })
          // The first round is compiled in between.
          if (round > 0) team.found.get(connections)!.push(figures)
        }
      }
    }
  } finally {
    for (const { services, redis } of teams) {
      for (const service of services) await service.stop()
      await redis?.stop()
    }
  }
  const rows = CONNECTIONS.flatMap(connections =>
    teams.map(({ label, found }) => {
      const runs = found.get(connections)!
      const names = Object.keys(runs[0]!)
      const medians = names.map(name => [name, median(runs.map(run => run[name]!))] as const)
      return { '': `${connections} at a time`, store: label, ...Object.fromEntries(medians) }
    }),
  )
  return tableOf(rows)
}

async function startTeam(label: string, count: number, takesTurns = false): Promise<Team> {
  const redis = label === 'SQLite' ? undefined : await startRedis()
  const start = () =>
    startServer('support/session-server.ts', redis && { HAVERSACK_REDIS_URL: redis.url })
  const services = await Promise.all(Array.from({ length: count }, start))
  const found = new Map<number, Figures[]>(CONNECTIONS.map(each => [each, []]))
  return { label, takesTurns, redis, services, found }
}

async function measure(
  { redis, services, takesTurns }: Team,
  plan: Pick<SessionPlan, 'connections' | 'seconds' | 'run'>,
): Promise<Figures> {
  await Promise.all(services.map(measuredBy))
  const before = await takenBy(redis)
  const load = await runPlan<SessionLoad>('support/session-load.ts', {
    ...plan,
    urls: services.map(({ url }) => url),
    takesTurns,
    bodyBytes: 4_096,
    resultsOfSession: 50,
  } satisfies SessionPlan)
  if (load.errors > 0) throw new Error(`${load.errors} requests failed`)
  const measured = await Promise.all(services.map(measuredBy))
  const after = await takenBy(redis)
  const { requests } = load
  const usOf = (name: 'main_ms' | 'process_ms') =>
    (1000 * measured.reduce((sum, each) => sum + each[name], 0)) / requests
  return {
    'a second': load.per_second,
    'p50 ms': load.p50_ms,
    'p99 ms': load.p99_ms,
    'exact references': load.exact / requests,
    'main thread, µs': usOf('main_ms'),
    'process, µs': usOf('process_ms'),
    'Redis, µs': (after.us - before.us) / requests,
    'calls of Redis': (after.calls - before.calls) / requests,
  }
}

/** Processor time of a server so far, and calls of functions and waits, as it counts them. */
async function takenBy(redis: RedisProcess | undefined) {
  if (redis === undefined) return { us: 0, calls: 0 }
  const info = String(await redis.ask('INFO', 'commandstats'))
  const counted = info.matchAll(/cmdstat_(?:fcall|fcall_ro|wait):calls=(\d+)/g)
  return {
    us: cpuUsOf([redis]),
    calls: [...counted].reduce((sum, [, calls]) => sum + Number(calls), 0),
  }
}
