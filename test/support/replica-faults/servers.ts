import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisProcess, startRedis, startSentinel } from '../redis-server.ts'
import { type Relay, startRelay } from './relay.ts'
import { localPortsOf } from './sockets-of.ts'

/** The Redis servers of a run. */
export interface Servers {
  /** The primary, as far as the run knows. */
  primary(): Promise<RedisProcess>
  readonly sentinels: readonly RedisProcess[]
  /** The link of each service to the server; none if it finds the servers by itself. */
  readonly relays: readonly Relay[]
  /**
   * Cuts a service off, together with the primary that it has now, from everything else; absent:
   * there is one server. @returns what ends that
   */
  isolate?(service: number, pid: number): Promise<() => void>
  /** What a service, by its number, must know to use them; -1: what an operator must know. */
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
    settings: service => `url = "redis://127.0.0.1:${(relays[service] ?? redis).port}"\n`,
    async stop() {
      await Promise.all(relays.map(relay => relay.close()))
      await redis.stop()
    },
  }
}

const NAME = 'haversack'
const SENTINELS = 3

/** A server, and the link by which all others know it. */
interface Linked {
  readonly redis: RedisProcess
  readonly relay: Relay
}

/** @param settings of the server, by the port that it announces */
async function startLinked(settings: (port: number) => readonly string[]): Promise<Linked> {
  let target = 0
  const relay = await startRelay(() => target)
  const redis = await startRedis(...settings(relay.port))
  target = redis.port
  return { redis, relay }
}

/**
 * A primary, two replicas and three Sentinels. An answer leaves when a replica has its writes.
 * @param services that use them, each with links of its own to the Sentinels
 * @param downMs after so long without an answer a primary counts as down
 */
export async function startWithSentinels(
  services: number,
  downMs: number,
  ...more: readonly string[]
): Promise<Servers> {
  const quick = ['--repl-diskless-sync-delay', '0', ...more]
  const announcing = (port: number) => [...quick, '--replica-announce-port', `${port}`]
  const first = await startLinked(announcing)
  const of = ['--replicaof', `127.0.0.1 ${first.relay.port}`]
  const following = (port: number) => [...announcing(port), ...of]
  const all = [first, await startLinked(following), await startLinked(following)]
  const folder = mkdtempSync(join(tmpdir(), 'haversack-sentinels-'))
  const sentinels: RedisProcess[] = []
  for (let i = 0; i < SENTINELS; i++) {
    const file = join(folder, `${i}.conf`)
    const lines = [
      `sentinel monitor ${NAME} 127.0.0.1 ${first.relay.port} 2`,
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
  const links: Relay[][] = []
  for (let i = 0; i < services; i++)
    links.push(await Promise.all(sentinels.map(({ port }) => startRelay(port))))

  async function primary(): Promise<Linked> {
    const found = await sentinels[0]!.ask('SENTINEL', 'get-master-addr-by-name', NAME)
    const port = Number((found as string[])[1])
    return all.find(({ relay }) => relay.port === port) ?? first
  }
  const urlOf = (ports: readonly { readonly port: number }[]) =>
    `url = "redis+sentinel://${ports.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${NAME}"\n`

  return {
    primary: async () => (await primary()).redis,
    sentinels,
    relays: [],
    async isolate(service, pid) {
      const { relay } = await primary()
      const ports = localPortsOf(pid)
      // Connections that it opens meanwhile are its own as well.
      relay.hold(port => ports.has(port) || localPortsOf(pid).has(port))
      for (const link of links[service]!) link.hold()
      return () => {
        for (const each of [relay, ...links[service]!]) each.pass()
      }
    },
    settings: service => `${urlOf(links[service] ?? sentinels)}durability = "replica"\n`,
    async stop() {
      await Promise.all(sentinels.map(each => each.stop()))
      await Promise.all(all.map(({ redis }) => redis.stop()))
      await Promise.all(
        [...links.flat(), ...all.map(({ relay }) => relay)].map(each => each.close()),
      )
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
