import { request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { listenForCallback } from '../../../../src/mcp/auth/login.ts'

async function listen(state = 'the-state') {
  const listener = await listenForCallback(state, [0])
  onTestFinished(() => listener.close())
  return listener
}

it.each([
  ['another state', '?state=the-stale&code=x', {}],
  ['no state', '?code=x', {}],
  ['another path', '/more?state=the-state&code=x', {}],
])('takes no return with %s', async (_, rest) => {
  const listener = await listen()
  const answer = await fetch(`${listener.url}${rest}`)
  expect(answer.status).toBe(404)
  expect(listener.take(`${listener.url}${rest}`)).toBe(false)
})

it('takes no return that another name led to', async () => {
  const { url, port } = await listen()
  const status = await new Promise(resolve => {
    const options = { headers: { host: `evil.example:${port}` } }
    request(`${url}?state=the-state&code=x`, options, answer => {
      answer.resume()
      resolve(answer.statusCode)
    }).end()
  })
  expect(status).toBe(404)
})

it('takes the return with its state, once', async () => {
  const { url, returned } = await listen()
  const answer = await fetch(`${url}?state=the-state&code=first`)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  await fetch(`${url}?state=the-state&code=second`)
  expect((await returned).get('code')).toBe('first')
})

it('takes a URL by hand, if it is of this flow', async () => {
  const { url, take, returned } = await listen()
  expect(take('http://127.0.0.1:1/callback?state=the-state&code=x')).toBe(false)
  expect(take('what is this')).toBe(false)
  expect(take(` ${url}?state=the-state&code=y\n`)).toBe(true)
  expect((await returned).get('code')).toBe('y')
})

it('listens at the next port if one is in use', async () => {
  const { port } = await listen()
  await expect(listenForCallback('s', [port])).rejects.toThrow('EADDRINUSE')
  const other = await listenForCallback('s', [port, 0])
  other.close()
  expect(other.port).not.toBe(port)
})
