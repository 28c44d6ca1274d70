import { expect, onTestFinished, test } from 'vitest'
import { fail } from '../../../../src/store/failure.ts'
import { RedisOwners } from '../../../../src/store/redis/session-owners.ts'
import { eventually } from '../../../support/eventually.ts'

/** Processes that share one map instead of a Redis; each can be cut off. */
function processes(count: number) {
  const keys = new Map<string, string>()
  return Array.from({ length: count }, () => {
    const state = { outages: 0, isAway: false, isWeak: false }
    const server = {
      connection: 1,
      get outages() {
        return state.outages
      },
      async command(_: string, [, key, value, get]: readonly unknown[]) {
        if (state.isAway) return fail('unavailable', 'away')
        const before = keys.get(String(key)) ?? null
        keys.set(String(key), String(value))
        return { ok: true, reply: get === 'GET' ? before : 'OK' } as const
      },
      confirm: async () => (state.isWeak ? fail('unavailable', 'no replica') : undefined),
    }
    const owners = new RedisOwners({ server, rootOf: tenant => `{${tenant}}:`, retryMs: 1 })
    onTestFinished(() => owners.close())
    const take = async (session = 's', tenant = 'a') => {
      const taken = await owners.take(tenant, session, 1_000)
      return taken.ok ? taken.isOurs : taken.reason
    }
    return { state, owners, take, keys }
  })
}

test('a session is ours from its first turn on, until another process takes it', async () => {
  const [one, two] = processes(2) as [Process, Process]
  expect(await one.take()).toBe(true)
  expect(await one.take()).toBe(true)
  expect(await two.take()).toBe(false)
  expect(await two.take()).toBe(true)
  expect(await one.take()).toBe(false)
  // Others are others: sessions, and tenants with a session of the same name.
  expect(await two.take('other')).toBe(true)
  expect(await two.take('s', 'b')).toBe(true)
})

test('a key that is gone, an outage and a doubt each begin a known session again, once', async () => {
  const [one] = processes(1) as [Process]
  const again = async () => [await one.take(), await one.take()]
  expect(await again()).toEqual([true, true])
  one.keys.clear()
  expect(await again()).toEqual([false, true])
  one.state.outages++
  expect(await again()).toEqual([false, true])
  one.owners.doubt('a', 's')
  expect(await again()).toEqual([false, true])
})

test('a turn that Redis did not hear of is told later, so that all begin again', async () => {
  const [one, two] = processes(2) as [Process, Process]
  expect(await one.take()).toBe(true)
  two.state.isAway = true
  expect(await two.take()).toBe('unavailable')
  const before = [...one.keys.values()]
  two.state.isAway = false
  await eventually(() => expect([...one.keys.values()]).not.toEqual(before))
  expect(await one.take()).toBe(false)
  expect(await one.take()).toBe(true)
})

test('a turn that no replica of Redis has confirmed is not ours', async () => {
  const [one] = processes(1) as [Process]
  expect(await one.take()).toBe(true)
  one.state.isWeak = true
  expect(await one.take()).toBe('unavailable')
})

type Process = ReturnType<typeof processes>[number]
