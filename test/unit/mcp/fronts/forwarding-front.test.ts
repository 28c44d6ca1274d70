import { expect, it } from 'vitest'
import { pickForwarded } from '../../../../src/mcp/client/forwarded-headers.ts'
import {
  ForwardingFront,
  type ForwardingOptions,
} from '../../../../src/mcp/fronts/forwarding-front.ts'
import type { McpCaller } from '../../../../src/mcp/fronts/http-exchange.ts'

/** A front that notes its callers, and a server that takes one token. */
function endpoint(options: Partial<ForwardingOptions> = {}) {
  const callers: McpCaller[] = []
  const probed: Record<string, string>[] = []
  const clock = { now: 0 }
  const front = new ForwardingFront({
    names: ['authorization', 'x-team'],
    front: {
      answer: ({ caller }) => {
        callers.push(caller)
        return Promise.resolve({ status: 200, headers: {}, body: null })
      },
      close: () => Promise.resolve(),
    },
    probe: headers => {
      probed.push(headers)
      const status = headers['authorization'] === 'Bearer good' ? 200 : 401
      return Promise.resolve({ status, authenticate: 'Bearer realm="up"' })
    },
    now: () => clock.now,
    ...options,
  })
  const ask = (headers: Record<string, string>, credential = 'key-1') =>
    front.answer({
      method: 'POST',
      body: Buffer.from('{}'),
      signal: new AbortController().signal,
      caller: { tenant: 'a', credential },
      header: name => headers[name] ?? null,
    })
  return { ask, callers, probed, clock }
}

const KEY = { 'x-haversack-key': 'hvs_ours' }
const GOOD = { ...KEY, authorization: 'Bearer good' }

it('gives each set of credentials a caller of its own', async () => {
  const { ask, callers } = endpoint({ probe: null })
  for (const authorization of ['Bearer one', 'Bearer two', 'Bearer one']) {
    await ask({ ...KEY, authorization, cookie: 'no' })
  }
  await ask({ ...KEY, authorization: 'Bearer one' }, 'key-2')
  const [one, two, again, other] = callers.map(({ credential }) => credential)
  expect(again).toBe(one)
  expect(new Set([one, two, other]).size).toBe(3)
  expect(callers[0]).toMatchObject({
    tenant: 'a',
    forwarded: { headers: { authorization: 'Bearer one' } },
  })
  expect(callers.map(({ credential }) => credential).join()).not.toContain('Bearer')
})

it('forwards nothing if our key may be in one of these headers', async () => {
  const { ask, callers } = endpoint({ probe: null })
  await ask({ authorization: 'Bearer a-key-of-another-form' })
  expect(callers[0]?.forwarded?.headers).toEqual({})
  await ask({ authorization: 'Bearer for-the-server' }, '')
  expect(callers[1]?.forwarded?.headers).toEqual({ authorization: 'Bearer for-the-server' })
})

it('answers as the only server does to bad credentials, and asks it again soon', async () => {
  const { ask, callers, probed, clock } = endpoint()
  const bad = { ...KEY, authorization: 'Bearer bad' }
  for (let i = 0; i < 3; i++) {
    const { status, headers } = await ask(bad)
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="up"'])
  }
  expect(callers).toEqual([])
  expect(probed).toEqual([{ authorization: 'Bearer bad' }])
  clock.now += 5_000
  await ask(bad)
  expect(probed).toHaveLength(2)
})

it('passes good credentials on, and notices when they are good no more', async () => {
  let status = 200
  const { ask, clock } = endpoint({ probe: () => Promise.resolve({ status, authenticate: null }) })
  expect((await ask(GOOD)).status).toBe(200)
  status = 401
  expect((await ask(GOOD)).status).toBe(200)
  clock.now += 60_000
  const { status: answered, headers } = await ask(GOOD)
  expect([answered, headers['www-authenticate']]).toEqual([401, undefined])
})

it('leaves a server that cannot be reached to the front', async () => {
  const { ask, callers } = endpoint({ probe: () => Promise.reject(new Error('down')) })
  expect((await ask(GOOD)).status).toBe(200)
  expect(callers).toHaveLength(1)
})

it('gives a server only what it names', () => {
  const forwarded = { headers: { authorization: 'a', 'x-team': 'b' }, identity: '' }
  expect(pickForwarded(['x-team'], forwarded)).toEqual({ 'x-team': 'b' })
})
