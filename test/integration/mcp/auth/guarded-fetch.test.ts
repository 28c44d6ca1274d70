import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { guardedFetch } from '../../../../src/mcp/auth/guarded-fetch.ts'

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const PUBLIC = new URL('http://8.8.8.8/mcp')
const PRIVATE = new URL('http://10.0.0.1/mcp')
const LOCAL = new URL('http://localhost/mcp')

it.each([
  ['loopback', PUBLIC, 'http://127.0.0.1:1/'],
  ['loopback in IPv6', PUBLIC, 'http://[::1]:1/'],
  ['loopback by another spelling', PUBLIC, 'http://2130706433:1/'],
  ['loopback by a name', PUBLIC, 'http://localhost:1/'],
  ['a private network', PUBLIC, 'http://192.168.1.1:1/'],
  ['loopback', PRIVATE, 'http://127.0.0.1:1/'],
  ['a metadata service', LOCAL, 'http://169.254.169.254/latest/meta-data'],
  ['a mapped metadata service', LOCAL, 'http://[::ffff:169.254.169.254]/latest'],
  ['a file', LOCAL, 'file:///etc/passwd'],
  ['no TLS', new URL('https://localhost/mcp'), 'http://localhost:1/'],
])('refuses %s for %s', async (_, server, url) => {
  await expect(guardedFetch(server)(url)).rejects.toMatchObject({ name: 'RefusedUrl' })
})

it('fetches for a server of this machine, and follows no redirect', async () => {
  const url = await serve((request, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(request.headers.host)
  })
  const answer = await guardedFetch(LOCAL)(url)
  expect(answer.status).toBe(302)
  expect(answer.headers.get('location')).toBe('http://169.254.169.254/')
})

it('leaves only the code of an error', async () => {
  const url = await serve((request, response) => {
    const code = request.url?.slice(1) ?? ''
    const body = { error: decodeURIComponent(code), error_description: 'planted-secret' }
    response.writeHead(400).end(JSON.stringify(body))
  })
  const text = async (path: string) => (await guardedFetch(LOCAL)(`${url}/${path}`)).text()
  expect(await text('invalid_grant')).toBe('{"error":"invalid_grant"}')
  expect(await text('planted%20secret')).toBe('{"error":"server_error"}')
})

it('ends with answers that are too large, or too slow', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/large') response.end('x'.repeat(100))
  })
  const fetch = guardedFetch(LOCAL, { bodyBytes: 99, timeoutMs: 200 })
  await expect(fetch(`${url}/large`)).rejects.toThrow('too large')
  await expect(fetch(`${url}/slow`)).rejects.toThrow()
})
