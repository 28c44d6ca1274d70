import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeKey } from '../../src/access/key-record.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { type Server, startServer } from '../support/processes.ts'

const REPLICAS = 3
const SECONDS = 10
const RATE = 100
const BURST = 20
/** A replica's lease is of some 50 ms. */
const LEASE = Math.ceil(RATE * 0.05)
/** By then every replica knows how many there are. */
const KNOWN_MS = 5_000

/**
 * Requests of one key that pass over ten seconds, through three replicas that are asked for twice
 * as many as may pass: with Redis, and with a Redis that hangs.
 */
export async function sharedRates(): Promise<string> {
  const redis = await startRedis()
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-rates-'))
  const file = join(folder, 'keys.json')
  const { key, id, sha256 } = makeKey()
  const record = { id, tenant: 'a', sha256, scopes: ['encode'], redeems: false, created_at: 0 }
  const keys = [{ ...record, rate_per_s: RATE, burst: BURST }]
  writeFileSync(file, JSON.stringify({ version: 1, keys }))
  const replicas: Server[] = []
  for (let i = 0; i < REPLICAS; i++) {
    replicas.push(
      await startServer('support/session-server.ts', {
        HAVERSACK_PORT: '0',
        HAVERSACK_LOG_LEVEL: 'silent',
        HAVERSACK_KEYS_FILE: file,
        HAVERSACK_REDIS_URL: redis.url,
      }),
    )
  }
  try {
    await sleep(KNOWN_MS)
    // What the bucket has after a pause passes first.
    await passing(replicas, key, 2)
    const shared = await passing(replicas, key, SECONDS)
    process.kill(redis.pid, 'SIGSTOP')
    await sleep(1_000)
    const alone = await passing(replicas, key, SECONDS)
    process.kill(redis.pid, 'SIGCONT')
    const limit = RATE * SECONDS
    const share = (count: number) => (100 * count) / limit
    return markdownTable(
      [`${RATE} a second, ${SECONDS} s, ${REPLICAS} replicas`, 'passed', '% of the limit', 'goal'],
      [
        ['with Redis', shared, share(shared), '95–105 %'],
        ['Redis hangs', alone, share(alone), `at most ${limit + REPLICAS * LEASE}`],
      ],
    )
  } finally {
    for (const each of replicas) await each.stop()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How many of twice as many requests as may pass do, in so many seconds. */
async function passing(replicas: readonly Server[], key: string, seconds: number): Promise<number> {
  let passed = 0
  const untilMs = performance.now() + seconds * 1_000
  const everyMs = (REPLICAS * 1_000) / (2 * RATE)
  const ask = async ({ port }: Server) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/encode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ content: 'short' }),
    })
    await answer.arrayBuffer()
    if (answer.status === 200) passed++
  }
  await Promise.all(
    replicas.map(async replica => {
      const under = new Set<Promise<void>>()
      for (let atMs = performance.now(); atMs < untilMs; atMs += everyMs) {
        await sleep(Math.max(0, atMs - performance.now()))
        const asked = ask(replica).finally(() => under.delete(asked))
        under.add(asked)
      }
      await Promise.all(under)
    }),
  )
  return passed
}
