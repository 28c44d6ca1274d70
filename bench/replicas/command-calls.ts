import type { RedisProcess } from '../../test/support/redis-server.ts'

/** Calls of functions and waits, as the server counts them. */
export async function commandCalls(server: RedisProcess | undefined): Promise<number> {
  if (server === undefined) return 0
  const info = String(await server.ask('INFO', 'commandstats'))
  const counted = info.matchAll(/cmdstat_(?:fcall|fcall_ro|wait):calls=(\d+)/g)
  return [...counted].reduce((sum, [, calls]) => sum + Number(calls), 0)
}
