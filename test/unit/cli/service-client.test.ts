import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { patient, serviceAt } from '../../../src/console/service-client.ts'
import { SERVICE_HEADER } from '../../../src/runtime/service-proof.ts'

/** A service that refuses its first requests with `status`, and a client that waits for it. */
async function refusing(times: number, status: number, headers: Record<string, string>) {
  let asked = 0
  const server = createServer(({ url }, response) => {
    if (url === '/livez') {
      response.setHeader(SERVICE_HEADER, '1').end('ok')
      return
    }
    asked++
    const isRefused = asked <= times
    response.writeHead(isRefused ? status : 200, { ...(isRefused ? headers : {}) })
    response.end(JSON.stringify(isRefused ? { code: 'overloaded', detail: 'busy' } : { ok: true }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const pauses: number[] = []
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = patient(serviceAt(url, {}), async ms => pauses.push(ms))
  return { client, pauses, asked: () => asked }
}

describe('a patient client', () => {
  it('comes back when the service said', async () => {
    const { client, pauses } = await refusing(3, 503, { 'retry-after': '2' })
    expect(await client.post('/v1/encode', {})).toEqual({ ok: true })
    expect(pauses).toEqual([2000, 2000, 2000])
  })

  it('does not repeat what may not come again', async () => {
    for (const [status, headers] of [[503, {}] as const, [500, { 'retry-after': '1' }] as const]) {
      const { client, pauses, asked } = await refusing(9, status, headers)
      await expect(client.get('/readyz')).rejects.toThrow(`/readyz: ${status} overloaded: busy`)
      expect([pauses, asked()]).toEqual([[], 1])
    }
  })

  it('gives up after a minute of pauses', async () => {
    const { client, pauses } = await refusing(99, 429, { 'retry-after': '20' })
    await expect(client.post('/v1/encode', {})).rejects.toThrow('429')
    expect(pauses).toEqual([20_000, 20_000, 20_000])
  })
})
