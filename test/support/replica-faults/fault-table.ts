import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../src/lab/bill/statistics.ts'
import type { RedisProcess } from '../redis-server.ts'
import type { Relay } from './relay.ts'
import type { Replicas } from './replicas.ts'
import type { Servers } from './servers.ts'

export interface FaultCast {
  readonly servers: Servers
  readonly replicas: Replicas
  readonly random: Random
  /** Called when the server has lost everything that nobody remembers. */
  onEmptied(): void
}

type Fault = (cast: FaultCast) => Promise<void>

/** How long something hangs: long enough that each replica notices. */
const HANG_MS = 700
/** What a server that does not flush each write may lose. */
const LOST_MS = 1_000
/** How long a failover may take on a busy machine. */
const FAILOVER_MS = 60_000
/** How much later a slow link passes things on: most calls are too late then. */
const SLOW_MS = 80

/** What happens to services, and to the server that they have now. Each resolves when it is over. */
const COMMON: Readonly<Record<string, Fault>> = {
  async connections({ servers }) {
    await (await servers.primary()).ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  },
  async 'service hangs'({ replicas }) {
    await hang(replicas.one().pid)
  },
  async 'redis is full'({ servers }) {
    const redis = await servers.primary()
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1')
    await sleep(HANG_MS)
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
  },
  async 'redis may evict'({ servers }) {
    const redis = await servers.primary()
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await sleep(HANG_MS)
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  },
  async 'library lost'({ servers }) {
    await (await servers.primary()).ask('FUNCTION', 'FLUSH')
  },
  async 'service killed'({ replicas }) {
    await replicas.killOne()
  },
  /** An upgrade, or the way back: one service after the other is replaced by the other version. */
  async 'rolling restart'({ replicas }) {
    await replicas.rollOver()
  },
}

/** With one server. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  async 'redis hangs'({ servers }) {
    await hang((await servers.primary()).pid)
  },
  /** It comes back without the last second, as after a loss of power. */
  async 'redis loses writes'({ servers }) {
    const redis = await servers.primary()
    const [, folder = ''] = (await redis.ask('CONFIG', 'GET', 'dir')) as readonly string[]
    const before = newestLog(folder)
    await sleep(LOST_MS)
    await redis.restart(0, () => {
      if (newestLog(folder).file === before.file) truncateSync(before.file, before.bytes)
    })
  },
  async 'redis flushed'({ servers, onEmptied }) {
    onEmptied()
    await (await servers.primary()).ask('FLUSHALL')
    onEmptied()
  },
  /** One service alone is cut off, and answers turns between those of others. */
  async 'link silent'(cast) {
    await withLink(cast, relay => relay.hold())
  },
  /** What one service asks arrives, and it hears nothing of it. */
  async 'link half open'(cast) {
    await withLink(cast, relay => relay.deafen())
  },
  async 'link cut'(cast) {
    await withLink(cast, relay => relay.cut())
  },
  async 'link slow'(cast) {
    await withLink(cast, relay => relay.slow(SLOW_MS))
  },
  ...COMMON,
}

/** With Sentinels. */
export const FAILOVERS: Readonly<Record<string, Fault>> = {
  async 'primary killed'(cast) {
    // One that is back before, and empty, would stay the primary.
    await failOver(cast, redis => redis.restart(0, () => isReplaced(cast, redis)))
  },
  async 'primary hangs'(cast) {
    await failOver(cast, async redis => {
      process.kill(redis.pid, 'SIGSTOP')
      await sleep(4 * HANG_MS)
      process.kill(redis.pid, 'SIGCONT')
    })
  },
  /** It goes on beside the new one, and one service has it alone. */
  async 'old primary goes on'(cast) {
    const { at, pid } = cast.replicas.one()
    await failOver(cast, async redis => {
      const heal = await cast.servers.isolate!(at, pid)
      await isReplaced(cast, redis)
      await sleep(4 * HANG_MS)
      heal()
    })
  },
  async 'failover asked for'(cast) {
    const [sentinel] = cast.servers.sentinels
    await failOver(cast, async redis => {
      try {
        await sentinel!.ask('SENTINEL', 'FAILOVER', 'haversack')
      } catch {
        // It refuses while another one is under way.
        return
      }
      await isReplaced(cast, redis)
    })
  },
  async 'sentinel killed'({ servers, random }) {
    await servers.sentinels[random(servers.sentinels.length)]!.restart()
  },
  ...COMMON,
}

/** Resolves when the Sentinels have another primary, at the latest after a while. */
async function isReplaced({ servers }: FaultCast, before: RedisProcess): Promise<void> {
  const untilMs = performance.now() + FAILOVER_MS
  while ((await servers.primary()) === before && performance.now() < untilMs) await sleep(100)
}

async function failOver(
  { servers }: FaultCast,
  act: (primary: RedisProcess) => Promise<unknown>,
): Promise<void> {
  await act(await servers.primary())
  // Until the others follow the new one, a second fault would be two at a time.
  await sleep(2 * HANG_MS)
}

async function withLink(
  { servers, random }: FaultCast,
  spoil: (relay: Relay) => void,
): Promise<void> {
  const relay = servers.relays[random(servers.relays.length)]!
  spoil(relay)
  await sleep(2 * HANG_MS)
  relay.pass()
}

/** The file that a server appends to, and its size. */
function newestLog(folder: string) {
  const logs = join(folder, 'appendonlydir')
  const names = readdirSync(logs).filter(name => name.endsWith('.incr.aof'))
  const file = join(logs, names.sort().at(-1) ?? '')
  return { file, bytes: statSync(file).size }
}

async function hang(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await sleep(HANG_MS)
  process.kill(pid, 'SIGCONT')
}
