import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisProcess } from '../../test/support/redis-server.ts'
import type { Replicas } from './replicas.ts'

export interface FaultCast {
  readonly redis: RedisProcess
  readonly replicas: Replicas
}

/** How long something hangs: long enough that each replica notices. */
const HANG_MS = 700

/** What happens to a run, by name. Each resolves when it is over. */
export const FAULTS: Readonly<Record<string, (cast: FaultCast) => Promise<void>>> = {
  async connections({ redis }) {
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  },
  async 'service killed'({ replicas }) {
    await replicas.killOne()
  },
  async 'redis hangs'({ redis }) {
    await hang(redis.pid)
  },
  async 'service hangs'({ replicas }) {
    await hang(replicas.pidOfOne())
  },
  /** It comes back with what it had a moment before, as after a loss of power. */
  async 'redis loses writes'({ redis }) {
    await redis.ask('SAVE')
    await sleep(HANG_MS)
    await redis.restart()
  },
  async 'redis is full'({ redis }) {
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1')
    await sleep(HANG_MS)
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
  },
  async 'redis may evict'({ redis }) {
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await sleep(HANG_MS)
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  },
  async 'library lost'({ redis }) {
    await redis.ask('FUNCTION', 'FLUSH')
  },
}

async function hang(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await sleep(HANG_MS)
  process.kill(pid, 'SIGCONT')
}
