import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisProcess, startRedis } from '../../test/support/redis-server.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { measuredBy } from '../support/measured-by.ts'
import { cpuUsOf } from '../support/process-time.ts'
import { runPlan, type Server, startServer } from '../support/processes.ts'
import type { SessionLoad, SessionPlan } from '../support/session-load.ts'
import type { Measured } from '../support/session-server.ts'
import { median } from '../support/statistics.ts'
import { commandCalls } from './command-calls.ts'

const CONNECTIONS = [1, 32] as const

interface Figures extends SessionLoad, Measured {
  readonly redis_us: number
  readonly calls: number
}

/** A service, and the servers that it uses. */
interface Candidate {
  readonly label: string
  readonly server: Server
  readonly servers: readonly RedisProcess[]
  readonly found: Map<number, Figures[]>
}

/**
 * Encodes of 4 KiB with a session, half of them repeated, through a service on SQLite and services
 * on Redis, in turn in each round. Processor time of Redis is that of all its servers.
 */
export async function encodes(rounds: number, seconds: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-replicas-'))
  const primary = await startRedis('--repl-diskless-sync-delay', '0')
  const replicated = await startRedis('--repl-diskless-sync-delay', '0')
  const replica = await startRedis('--replicaof', `127.0.0.1 ${replicated.port}`)
  const on = async (label: string, servers: readonly RedisProcess[], durability = 'primary') => {
    const file = join(folder, `${durability}.toml`)
    const url = servers[0]?.url
    const redis = url === undefined ? '' : `url = "${url}"\ndurability = "${durability}"\n`
    writeFileSync(file, redis === '' ? '' : `[store.redis]\n${redis}`)
    const server = await startServer('support/session-server.ts', {
      HAVERSACK_PORT: '0',
      HAVERSACK_LOG_LEVEL: 'silent',
      HAVERSACK_CONFIG: file,
    })
    const found = new Map<number, Figures[]>(CONNECTIONS.map(each => [each, []]))
    return { label, server, servers, found }
  }
  const candidates: readonly Candidate[] = [
    await on('SQLite', []),
    await on('Redis, `primary`', [primary]),
    await on('Redis, `replica`', [replicated, replica], 'replica'),
  ]
  try {
    let run = 0
    for (let round = 0; round <= rounds; round++) {
      for (const connections of CONNECTIONS) {
        for (const candidate of candidates) {
          const figures = await measure(candidate, connections, seconds, ++run)
          // The first round is compiled in between.
          if (round > 0) candidate.found.get(connections)!.push(figures)
        }
      }
    }
  } finally {
    for (const { server } of candidates) await server.stop()
    for (const each of [primary, replica, replicated]) await each.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return tableOf(candidates)
}

async function measure(
  { server, servers }: Candidate,
  connections: number,
  seconds: number,
  run: number,
): Promise<Figures> {
  await measuredBy(server)
  const before = { us: cpuUsOf(servers), calls: await commandCalls(servers[0]) }
  const load = await runPlan<SessionLoad>('support/session-load.ts', {
    port: server.port,
    kind: 'half',
    connections,
    seconds,
    bodyBytes: 4096,
    resultsOfSession: 50,
    run,
  } satisfies SessionPlan)
  if (load.errors > 0) throw new Error(`${load.errors} requests failed`)
  return {
    ...load,
    ...(await measuredBy(server)),
    redis_us: cpuUsOf(servers) - before.us,
    calls: (await commandCalls(servers[0])) - before.calls,
  }
}

function tableOf(candidates: readonly Candidate[]): string {
  const rows = CONNECTIONS.flatMap(connections =>
    candidates.map(({ label, found }) => {
      const all = found.get(connections)!
      const middle = (pick: (figures: Figures) => number) => median(all.map(pick))
      return [
        `${connections} at a time`,
        label,
        middle(({ per_second }) => per_second),
        middle(({ p50_ms }) => p50_ms),
        middle(({ p99_ms }) => p99_ms),
        middle(({ exact, requests }) => exact / requests),
        middle(({ main_ms, requests }) => (1000 * main_ms) / requests),
        middle(({ process_ms, requests }) => (1000 * process_ms) / requests),
        middle(({ redis_us, requests }) => redis_us / requests),
        middle(({ calls, requests }) => calls / requests),
      ]
    }),
  )
  const header = [
    '',
    'store',
    'a second',
    'p50 ms',
    'p99 ms',
    'exact references',
    'main thread, µs',
    'process, µs',
    'Redis, µs',
    'calls of Redis',
  ]
  return markdownTable(header, rows)
}
