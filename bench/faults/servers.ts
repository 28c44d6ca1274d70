import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisProcess, startRedis, startSentinel } from '../../test/support/redis-server.ts'
import { type Relay, startRelay } from './relay.ts'

/** The Redis servers of a run. */
export interface Servers {
  /** The primary, as far as the run knows. */
  primary(): Promise<RedisProcess>
  readonly sentinels: readonly RedisProcess[]
  /** Of each service its link to the server; none if it finds the servers by itself. */
  readonly relays: readonly Relay[]
  /** What a service, by its number, must know to use them. */
  settings(service: number): string
  stop(): Promise<void>
}

/** One server, to which each service has a link of its own. */
export async function startOne(services: number): Promise<Servers> {
  const kept = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--aof-load-truncated', 'yes']
  const redis = await startRedis(...kept)
  const relays: Relay[] = []
  for (let i = 0; i < services; i++) relays.push(await startRelay(redis.port))
  return {
    primary: async () => redis,
    sentinels: [],
    relays,
    settings: service => `url = "redis://127.0.0.1:${relays[service]!.port}"\n`,
    async stop() {
      await Promise.all(relays.map(relay => relay.close()))
      await redis.stop()
    },
  }
}

const NAME = 'haversack'
const SENTINELS = 3

/**
 * A primary, two replicas and three Sentinels. An answer leaves when a replica has its writes.
 * @param downMs after so long without an answer a primary counts as down
 */
export async function startWithSentinels(
  downMs: number,
  ...more: readonly string[]
): Promise<Servers> {
  const quick = ['--repl-diskless-sync-delay', '0', ...more]
  const first = await startRedis(...quick)
  const of = ['--replicaof', `127.0.0.1 ${first.port}`]
  const all = [first, await startRedis(...quick, ...of), await startRedis(...quick, ...of)]
  const folder = mkdtempSync(join(tmpdir(), 'haversack-sentinels-'))
  const sentinels: RedisProcess[] = []
  for (let i = 0; i < SENTINELS; i++) {
    const file = join(folder, `${i}.conf`)
    const lines = [
      `sentinel monitor ${NAME} 127.0.0.1 ${first.port} 2`,
      `sentinel down-after-milliseconds ${NAME} ${downMs}`,
      `sentinel failover-timeout ${NAME} 3000`,
      `sentinel parallel-syncs ${NAME} 2`,
    ]
    writeFileSync(file, lines.join('\n'))
    sentinels.push(await startSentinel(file))
  }
  for (const sentinel of sentinels) {
    const sees = async (what: string) =>
      ((await sentinel.ask('SENTINEL', what, NAME)) as unknown[]).length
    while ((await sees('REPLICAS')) < 2 || (await sees('SENTINELS')) < SENTINELS - 1)
      await sleep(100)
  }
  const nodes = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    async primary() {
      const found = await sentinels[0]!.ask('SENTINEL', 'get-master-addr-by-name', NAME)
      const port = Number((found as string[])[1])
      return all.find(each => each.port === port) ?? first
    },
    sentinels,
    relays: [],
    settings: () => `url = "redis+sentinel://${nodes}/${NAME}"\ndurability = "replica"\n`,
    async stop() {
      await Promise.all([...sentinels, ...all].map(each => each.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
