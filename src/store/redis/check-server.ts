import type { Result } from '../store.ts'
import type { StoreCheck } from '../values/store-figures.ts'
import { STRANGE } from './failures.ts'
import { LAYOUT } from './layout.ts'
import type { RedisServer } from './server.ts'
import { INFO_COMMAND, policyOf } from './server-info.ts'
import type { RedisRates } from './shared-rates.ts'

const VERSION = /(?:valkey|redis)_version:(\d+)\.(\d+)\.(\d+)/g
const LEAST_MAJOR = 7

/** Looks whether this version may join the processes that use a server now. */
export async function checkServer(
  server: Pick<RedisServer, 'command'>,
  rates: Pick<RedisRates, 'others'>,
): Promise<Result<StoreCheck>> {
  const asked = await server.command('', INFO_COMMAND)
  if (!asked.ok) return asked
  const info = String(asked.reply)
  // Valkey also gives the version of Redis that it replaces.
  const versions = [...info.matchAll(VERSION)].map(([, ...numbers]) => numbers.map(Number))
  const version = versions.at(-1)
  if (version === undefined) return STRANGE
  const others = await rates.others()
  if (!others.ok) return others
  const policy = policyOf(info)
  const leastLayout = others.processes.reduce(
    (least, { layout }) => Math.min(least, layout),
    LAYOUT,
  )
  const problems = [
    ...(versions.every(([major]) => major! < LEAST_MAJOR)
      ? [`the server has version ${version.join('.')}, but functions exist from 7.0 on`]
      : []),
    ...(policy === 'noeviction' ? [] : [`maxmemory-policy is ${policy}, but must be noeviction`]),
    ...(leastLayout < LAYOUT
      ? [`a process reads values up to layout ${leastLayout}, but this version writes ${LAYOUT}`]
      : []),
  ]
  const libraries = new Set(others.processes.map(({ library }) => library)).size
  return { ok: true, processes: others.processes.length, libraries, layout: LAYOUT, problems }
}
