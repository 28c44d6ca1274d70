import { type RedisProcess, startRedis } from '../../test/support/redis-server.ts'
import type { SessionLoad, SessionPlan } from '../sessions/load.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { runPlan, startServer } from '../support/processes.ts'

const RESULTS = 5
const SESSIONS = 100_000
const AT_ONCE = 200

/** Keys of a tenant by what follows the generation: what a session has, and what bodies have. */
const OF_SESSIONS: Readonly<Record<string, string>> = {
  l: 'changes',
  s: 'state',
  k: 'calls',
  ko: 'calls',
  i: 'links',
  ss: 'indexes',
  sz: 'indexes',
}

/**
 * What sessions of five results take in Redis beside their texts, by kind of key: a service encodes
 * for some seconds, half of the results repeated, and the server is asked for the size of each key.
 */
export async function sessionMemory(seconds: number): Promise<string> {
  const redis = await startRedis()
  const server = await startServer('sessions/measured-server.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'silent',
    HAVERSACK_REDIS_URL: redis.url,
  })
  try {
    await runPlan<SessionLoad>('sessions/load.ts', {
      port: server.port,
      kind: 'half',
      connections: 8,
      seconds,
      bodyBytes: 4096,
      resultsOfSession: RESULTS,
      run: 1,
    } satisfies SessionPlan)
    const { byKind, sessions } = await sizes(redis)
    const all = [...byKind.values()].reduce((sum, bytes) => sum + bytes, 0)
    const rows = [...byKind, ['all', all] as const].map(([kind, bytes]) => [
      kind,
      bytes / sessions,
      (bytes / sessions) * (SESSIONS / 1e6),
    ])
    const header = [
      `${sessions} sessions of ${RESULTS} results`,
      'bytes of one',
      '100,000 sessions, MB',
    ]
    return markdownTable(header, rows)
  } finally {
    await server.stop()
    await redis.stop()
  }
}

async function sizes(redis: RedisProcess) {
  const byKind = new Map<string, number>()
  let sessions = 0
  for (let cursor = '0'; ; ) {
    const [next, keys] = (await redis.ask('SCAN', cursor, 'COUNT', `${AT_ONCE}`)) as [
      string,
      string[],
    ]
    const kinds = keys.map(key => OF_SESSIONS[/\}:\d+:(\w+)/.exec(key)?.[1] ?? ''])
    const usages = await Promise.all(
      keys.map((key, i) =>
        kinds[i] === undefined ? 0 : redis.ask('MEMORY', 'USAGE', key, 'SAMPLES', '0'),
      ),
    )
    for (const [i, kind] of kinds.entries()) {
      if (kind === undefined) continue
      byKind.set(kind, (byKind.get(kind) ?? 0) + Number(usages[i]))
      if (kind === 'state') sessions++
    }
    if (next === '0') return { byKind, sessions }
    cursor = next
  }
}
