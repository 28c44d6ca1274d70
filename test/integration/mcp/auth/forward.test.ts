import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { configSchema } from '../../../../src/config/config.ts'
import { createLogger } from '../../../../src/observability/logger.ts'
import { type Service, startService } from '../../../../src/service/service.ts'
import { keyFor, writeKeysFile } from '../../../support/keys.ts'
import { AuthorizationServer } from '../../../support/mcp/authorization-server.ts'
import { RawHttpClient } from '../../../support/mcp/http-client.ts'
import {
  type ProtectedServer,
  startProtectedServer,
} from '../../../support/mcp/protected-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-forward-'))
const ours = keyFor('a', { scopes: ['mcp'] })
const weak = keyFor('a', { scopes: ['encode'] })
let authority: AuthorizationServer
let upstream: ProtectedServer
let service: Service
beforeAll(async () => {
  authority = await AuthorizationServer.start()
  upstream = await startProtectedServer(authority)
  upstream.says.tools = '[{"name":"a","inputSchema":{"type":"object"}}]'
  const keys_file = join(folder, 'keys.json')
  writeKeysFile(keys_file, ours, weak)
  const auth = { kind: 'forward', headers: ['Authorization'] }
  const config = configSchema.parse({
    ...{ port: 0, data_dir: folder, keys_file, workers: { count: 1 } },
    limits: { drain_grace_ms: 0 },
    mcp: { servers: { one: { url: upstream.url, auth } } },
  })
  service = await startService(config, { logger: createLogger('silent') })
})
afterAll(async () => {
  await service.close()
  await Promise.all([upstream.close(), authority.close()])
  rmSync(folder, { recursive: true })
})

const token = () => `Bearer ${authority.issue()['access_token']}`

function clientWith(headers: Record<string, string>): RawHttpClient {
  return new RawHttpClient(`${service.url}/mcp/servers/one`, headers)
}

it('gives the server the credentials of each client, and never our key', async () => {
  for (const authorization of [token(), token()]) {
    const client = clientWith({ 'x-haversack-key': ours.key, authorization })
    expect((await client.initialize()).status).toBe(200)
    const { result } = await client.call('tools/call', { name: 'a', arguments: {} })
    expect(result.content).toEqual([{ type: 'text', text: 'done' }])
    expect(upstream.of('tools/call').at(-1)?.headers.authorization).toBe(authorization)
    await client.delete()
  }
  expect(upstream.arrived.length).toBeGreaterThan(2)
  expect(JSON.stringify(upstream.arrived)).not.toContain(ours.key)
})

it('lets nobody use the session of other credentials', async () => {
  const key = { 'x-haversack-key': ours.key }
  const client = clientWith({ ...key, authorization: token() })
  await client.initialize()
  const thief = clientWith({ ...key, authorization: token(), 'mcp-session-id': client.session })
  expect((await thief.post(thief.request('tools/list'))).status).toBe(404)
  expect((await client.post(client.request('tools/list'))).status).toBe(200)
  await client.delete()
})

it.each([
  ['bad credentials', { 'x-haversack-key': ours.key, authorization: 'Bearer bad' }],
  ['none', { 'x-haversack-key': ours.key }],
  ['our key in their place', { authorization: `Bearer ${ours.key}` }],
])('answers as the server does to %s', async (_, headers) => {
  const answer = await clientWith(headers as unknown as Record<string, string>).initialize()
  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="test"')
  expect(JSON.stringify(upstream.arrived)).not.toContain(ours.key)
})

it('holds keys and scopes', async () => {
  const authorization = token()
  const before = upstream.arrived.length
  const statuses = await Promise.all(
    [{ authorization }, { 'x-haversack-key': weak.key, authorization }].map(
      async headers => (await clientWith(headers as Record<string, string>).initialize()).status,
    ),
  )
  expect(statuses).toEqual([401, 403])
  expect(upstream.arrived).toHaveLength(before)
})
