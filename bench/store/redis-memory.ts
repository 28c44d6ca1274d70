import { parseRedisUrl } from '../../src/core/base/redis-address.ts'
import { openRedisStore } from '../../src/store/redis/open.ts'
import type { Store } from '../../src/store/store.ts'
import { type RedisProcess, startRedis } from '../../test/support/redis-server.ts'
import { recordsOf } from '../support/generated-results.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { runPlan, startServer } from '../support/processes.ts'
import type { SessionLoad, SessionPlan } from '../support/session-load.ts'

const RESULTS = 5
const AT_ONCE = 200
/** So many that all indexes have the form that they have with more. */
const COPIES = 20_000

/** Kinds of a session's keys: state and changes first, then calls and links. */
const KINDS = ['j', 'k', 'ko', 'i']

/** What bodies, records and sessions take in Redis, index, links and keys included. */
export async function redisMemory(seconds: number): Promise<string> {
  return `${await ofBodiesAndRecords()}\n\n${await ofSessions(seconds)}`
}

const COUNT = 10_000
const BODY_BYTES = 4096

async function ofBodiesAndRecords(): Promise<string> {
  const redis = await startRedis()
  const store = await openShared(redis)
  try {
    const empty = await usedBytes(redis)
    for (let from = 0; from < COUNT; from += AT_ONCE) {
      const put = async (i: number) => {
        const body = Buffer.from(recordsOf(BODY_BYTES, from + i))
        const session = `session ${(from + i) % 2_000}`
        const pinUntil = Date.now() + 3_600_000
        const item = { tenant: 't', body, mediaType: 'text/plain', session, pinUntil }
        const [kept] = await store.put([item])
        if (kept?.ok !== true) throw new Error(JSON.stringify(kept))
      }
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => put(i)))
    }
    const withBodies = await usedBytes(redis)
    for (let i = 0; i < COUNT; i++) {
      const record = { tenant: 't', namespace: 'rewrites', key: `key ${i}`, ttlMs: 1e9 }
      await store.writeRecord({ ...record, value: Buffer.alloc(120, i) })
    }
    const [bodies, records] = [withBodies - empty, (await usedBytes(redis)) - withBodies]
    return markdownTable(
      ['10,000 of', 'bytes each in Redis', 'of the raw size'],
      [
        ['4 KiB bodies with session', bodies / COUNT, bodies / COUNT / BODY_BYTES],
        ['records of 120 bytes', records / COUNT, records / COUNT / 120],
      ],
    )
  } finally {
    await store.close()
    await redis.stop()
  }
}

/**
 * What a session of five results takes in Redis beside its texts, with its keys, their ends and the
 * index. A service encodes for some seconds, half of the results repeated. Then these sessions are
 * copied until there are many, and the server says how much memory that took.
 */
async function ofSessions(seconds: number): Promise<string> {
  const redis = await startRedis()
  const server = await startServer('support/session-server.ts', {
    HAVERSACK_REDIS_URL: redis.url,
  })
  try {
    await runPlan<SessionLoad>('support/session-load.ts', {
      urls: [server.url],
      connections: 8,
      seconds,
      bodyBytes: 4096,
      resultsOfSession: RESULTS,
      run: 1,
    } satisfies SessionPlan)
  } finally {
    await server.stop()
  }
  try {
    const sessions = await keysOfSessions(redis)
    const header = ['sessions that were copied', 'bytes of one']
    return markdownTable(header, [[sessions.length, await bytesOfCopies(redis, sessions)]])
  } finally {
    await redis.stop()
  }
}

/** The key of each session's list. */
async function keysOfSessions(redis: RedisProcess): Promise<readonly string[]> {
  const found: string[] = []
  for (let cursor = '0'; ; ) {
    const said = await redis.ask('SCAN', cursor, 'COUNT', `${AT_ONCE}`)
    const [next, keys] = said as [string, string[]]
    found.push(...keys.filter(key => /\}:\d+:j:/.test(key)))
    if (next === '0') return found
    cursor = next
  }
}

/** Copies a session with all that it has. KEYS: its list. ARGV: the kinds of keys, the new name. */
const COPY = `
local base, name = KEYS[1]:match('^(.*:)j:(.*)$')
for i = 1, #ARGV - 1 do
  local from, to = base .. ARGV[i] .. ':' .. name, base .. ARGV[i] .. ':' .. ARGV[#ARGV]
  if redis.call('COPY', from, to, 'REPLACE') == 1 then
    redis.call('PEXPIRE', to, redis.call('PTTL', from))
  end
end
redis.call('ZADD', base .. 'si', redis.call('ZSCORE', base .. 'si', name), ARGV[#ARGV])`

/** Bytes of memory that one more session takes. */
async function bytesOfCopies(redis: RedisProcess, sessions: readonly string[]): Promise<number> {
  const before = await usedBytes(redis)
  for (let i = 0; i < COPIES; i += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, j) => {
        const name = `${i + j}`.padStart(22, 'x')
        const key = sessions[(i + j) % sessions.length]!
        return redis.ask('EVAL', COPY, '1', key, ...KINDS, name)
      }),
    )
  }
  return ((await usedBytes(redis)) - before) / COPIES
}

async function usedBytes(redis: RedisProcess): Promise<number> {
  const info = String(await redis.ask('INFO', 'memory'))
  return Number(/used_memory:(\d+)/.exec(info)?.[1])
}

/** The shared store, with deadlines that a busy machine keeps. */
function openShared({ url }: RedisProcess): Promise<Store> {
  const address = parseRedisUrl(url)
  if ('fault' in address) throw new Error(address.fault)
  return openRedisStore({
    address,
    callTimeoutMs: 5_000,
    tenantMaxBytes: 2 ** 33,
    maxBodyBytes: 2 ** 24,
    compressFromBytes: 512,
    onEvent: event => process.stderr.write(`${JSON.stringify(event)}\n`),
  })
}
