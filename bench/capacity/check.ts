import { type RedisProcess, startRedis } from '../../test/support/redis-server.ts'
import { commandCalls } from '../replicas/command-calls.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { measuredBy } from '../support/measured-by.ts'
import { cpuUsOf } from '../support/process-time.ts'
import { runPlan, type Server, startServer } from '../support/processes.ts'
import type { SessionLoad, SessionPlan } from '../support/session-load.ts'
import { median } from '../support/statistics.ts'
import { type EncodeCosts, MEASURED } from './model.ts'

const RESULT_BYTES = 4_096
const RESULTS_OF_SESSION = 50
const CONNECTIONS = 30
const SERVICES = 3

/** Three services on one Redis. */
interface Team {
  /** Whether each result of a session goes to the next service. */
  readonly takesTurns: boolean
  readonly redis: RedisProcess
  readonly services: readonly Server[]
  readonly found: Run[]
}

interface Run extends EncodeCosts {
  readonly bytes: number
  /** Share of results. */
  readonly exact: number
}

/**
 * Encodes through three services, in turn with sessions that stay, and with ones of which each
 * result goes to the next service. From what the first take here, the model says what the others
 * take. Prints that beside what they took.
 */
export async function checkModel(rounds: number, seconds: number): Promise<string> {
  const teams = [await startTeam(false), await startTeam(true)]
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const team of teams) {
        const figures = await run(team, seconds, round)
        // The first round is compiled in between.
        if (round > 0) team.found.push(figures)
      }
    }
  } finally {
    for (const { redis, services } of teams) {
      for (const service of services) await service.stop()
      await redis.stop()
    }
  }
  const [staying, moving] = teams.map(({ found }) => medians(found)) as [Run, Run]
  const row = (what: string, said: number, took: number) => [what, said, took, took / said]
  const scaled = (of: (costs: EncodeCosts) => number) =>
    (of(staying) * of(MEASURED.moving)) / of(MEASURED.staying)
  const header = ['of an encode, sessions move', 'the model says', 'measured', 'ratio']
  const table = markdownTable(header, [
    row(
      'service, µs',
      scaled(costs => costs.serviceUs),
      moving.serviceUs,
    ),
    row(
      'main thread, µs',
      scaled(costs => costs.mainUs),
      moving.mainUs,
    ),
    row(
      'Redis, µs',
      scaled(costs => costs.redisUs),
      moving.redisUs,
    ),
    row('calls of Redis', MEASURED.moving.calls, moving.calls),
    row('bytes in Redis', staying.bytes, moving.bytes),
    row('exact references', staying.exact, moving.exact),
  ])
  const { serviceUs, mainUs, redisUs, calls } = staying
  const stays = [serviceUs, mainUs, redisUs].map(us => Math.round(us).toLocaleString('en'))
  return `${table}\n\nIf sessions stay: service ${stays[0]}, main thread ${stays[1]}, Redis ${stays[2]} µs, ${calls.toFixed(2)} calls.`
}

async function startTeam(takesTurns: boolean): Promise<Team> {
  const redis = await startRedis()
  const start = () =>
    startServer('support/session-server.ts', {
      HAVERSACK_PORT: '0',
      HAVERSACK_LOG_LEVEL: 'silent',
      HAVERSACK_REDIS_URL: redis.url,
    })
  const services = await Promise.all(Array.from({ length: SERVICES }, start))
  return { takesTurns, redis, services, found: [] }
}

async function run(
  { takesTurns, redis, services }: Team,
  seconds: number,
  round: number,
): Promise<Run> {
  const [first, ...others] = services
  for (const service of services) await measuredBy(service)
  const before = await takenBy(redis)
  const load = await runPlan<SessionLoad>('support/session-load.ts', {
    port: first!.port,
    otherPorts: others.map(({ port }) => port),
    takesTurns,
    kind: 'half',
    connections: CONNECTIONS,
    seconds,
    bodyBytes: RESULT_BYTES,
    resultsOfSession: RESULTS_OF_SESSION,
    run: round,
  } satisfies SessionPlan)
  if (load.errors > 0) throw new Error(`${load.errors} requests failed`)
  const measured = await Promise.all(services.map(measuredBy))
  const after = await takenBy(redis)
  const sum = (of: (each: (typeof measured)[number]) => number) =>
    measured.reduce((all, each) => all + of(each), 0)
  const { requests } = load
  return {
    serviceUs: (1000 * sum(({ process_ms }) => process_ms)) / requests,
    mainUs: (1000 * sum(({ main_ms }) => main_ms)) / requests,
    redisUs: (after.us - before.us) / requests,
    calls: (after.calls - before.calls) / requests,
    bytes: (after.bytes - before.bytes) / requests,
    exact: load.exact / requests,
  }
}

/** Processor time, calls and bytes of data of a server so far. */
async function takenBy(redis: RedisProcess) {
  const memory = String(await redis.ask('INFO', 'memory'))
  return {
    us: cpuUsOf([redis]),
    calls: await commandCalls(redis),
    bytes: Number(/used_memory_dataset:(\d+)/.exec(memory)?.[1]),
  }
}

function medians(runs: readonly Run[]): Run {
  const middle = (of: (run: Run) => number) => median(runs.map(of))
  return {
    serviceUs: middle(({ serviceUs }) => serviceUs),
    mainUs: middle(({ mainUs }) => mainUs),
    redisUs: middle(({ redisUs }) => redisUs),
    calls: middle(({ calls }) => calls),
    bytes: middle(({ bytes }) => bytes),
    exact: middle(({ exact }) => exact),
  }
}
