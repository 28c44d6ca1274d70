import { describe, expect, test } from 'vitest'
import { checkServer } from '../../../../src/store/redis/check-server.ts'

const rates = { others: () => Promise.resolve({ ok: true as const, processes: [] }) }

/** What the check finds on a server that says this of itself. */
async function problemsOf(info: string) {
  const server = { command: () => Promise.resolve({ ok: true as const, reply: info }) }
  const checked = await checkServer(server, rates)
  return checked.ok ? checked.problems : checked.reason
}

const POLICY = 'maxmemory_policy:noeviction'

describe('a check of a server', () => {
  test.each([
    ['redis_version:7.0.0'],
    ['redis_version:8.2.1'],
    ['redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0'],
  ])('takes %j', async info => {
    expect(await problemsOf(`${info}\r\n${POLICY}`)).toEqual([])
  })

  test.each([
    ['redis_version:6.2.14', '6.2.14'],
    ['redis_version:5.0.0\r\nvalkey_version:6.9.9', '6.9.9'],
  ])('refuses %j, which has no functions', async (info, version) => {
    expect(await problemsOf(`${info}\r\n${POLICY}`)).toEqual([
      `the server has version ${version}, but functions exist from 7.0 on`,
    ])
  })

  test('knows a server of another kind', async () => {
    expect(await problemsOf('server: something else')).toBe('failed')
  })
})
