import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Scope } from '../../../src/access/key-record.ts'
import { BUILDERS } from '../../../src/service/builders.ts'
import { captureCli } from '../../support/capture.ts'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { startSmallService } from './harness.ts'

/** An HTTP server that keeps what it gets, and answers everything alike. */
async function server(status: number, body: string) {
  const got: unknown[] = []
  const listening = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void listening.close())
  listening.keepAliveTimeout = 1
  return { got, url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` }
}

/** A dollar for each request, at this model's price. */
const ANSWER = JSON.stringify({
  type: 'message',
  model: 'costly-1',
  usage: { input_tokens: 1_000_000, output_tokens: 0 },
})

const key = (tenant: string, ...scopes: Scope[]) => keyFor(tenant, { scopes })

it('shows all tenants to a key that may read them, and tells when a budget is used', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-teams-'))
  // `gain` reads the ledger of this user, too.
  vi.stubEnv('XDG_DATA_HOME', folder)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  const [vendor, hook, refusing] = [
    await server(200, ANSWER),
    await server(204, ''),
    await server(500, ''),
  ]
  const [red, blue] = [key('red', 'proxy', 'admin'), key('blue', 'proxy')]
  const green = key('green', 'proxy')
  const [boss, scraper] = [key('blue', 'read-all'), key('watch', 'metrics')]
  const keys = join(folder, 'keys.json')
  writeKeysFile(keys, red, blue, green, boss, scraper)
  const toml = {
    keys_file: keys,
    proxy: { anthropic_url: vendor.url },
    savings: {
      prices: [{ vendor: 'anthropic', model: 'costly', per_million: 1 }],
    },
    budgets: [
      { tenant: 'red', period: 'day', amount: 2, webhook: `${hook.url}/secret-path` },
      { tenant: 'red', period: 'month', amount: 1_000, webhook: hook.url },
      { tenant: 'blue', period: 'day', amount: 1, webhook: refusing.url },
    ],
  }
  const { openConfiguredBook } = BUILDERS
  const service = await startSmallService(toml, { builders: { openConfiguredBook } })
  onTestFinished(() => service.close())
  const ask = async ({ headers }: typeof red) => {
    const response = await fetch(`${service.url}/anthropic/v1/messages`, {
      method: 'POST',
      headers: { 'x-haversack-key': headers.authorization.slice(7), 'x-api-key': 'sk' },
      body: JSON.stringify({ model: 'costly-1', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    expect(response.status).toBe(200)
    await response.text()
  }
  const read = async (path: string, { headers }: typeof red) => {
    const response = await fetch(`${service.url}${path}`, { headers })
    return { status: response.status, body: await response.text() }
  }
  const savings = async (query: string, by: typeof red) => {
    const { status, body } = await read(`/v1/savings${query}`, by)
    return { status, ...JSON.parse(body) }
  }
  const requests = async (query: string) =>
    (await savings(query, boss)).vendors.anthropic?.requests ?? 0

  await ask(red)
  await ask(red)
  await ask(blue)
  await eventually(async () => {
    expect(await requests('')).toBe(1)
    expect(await requests('?tenant=red')).toBe(2)
  })
  expect(await requests('?tenant=*')).toBe(3)
  expect(await requests('?tenant=watch')).toBe(0)
  for (const query of ['?tenant=blue', '?tenant=*']) {
    expect(await savings(query, red)).toMatchObject({ status: 403, code: 'forbidden' })
  }
  expect((await savings('?tenant=red', red)).status).toBe(200)

  const gain = (by: typeof red, ...argv: string[]) => {
    const own = ['--url', service.url, '--key', by.headers.authorization.slice(7)]
    return captureCli('gain', '--by', 'team', ...argv, ...own)
  }
  expect(JSON.parse((await gain(boss, '--json')).stdout)).toMatchObject({
    total: { requests: 3 },
    by: {
      team: [
        { name: 'red', requests: 2 },
        { name: 'blue', requests: 1 },
      ],
    },
  })
  const alone = await gain(red)
  expect(alone.stdout).toMatch(/^ {2}red .*\n {2}all /m)
  expect(alone.stderr).toContain('the key lacks the scope read-all')
  for (const query of ['?tenant=blue', '?tenant=*']) {
    expect((await read(`/v1/gain${query}`, red)).status).toBe(403)
  }

  await eventually(() => expect(hook.got).toHaveLength(2))
  const spent = { tenant: 'red', period: 'day', amount: 2, spent: 2, currency: 'USD' }
  expect(hook.got).toEqual([0.8, 1].map(share => expect.objectContaining({ ...spent, share })))
  await eventually(() => expect(refusing.got.length).toBeGreaterThan(0))
  const { budgets } = await savings('', red)
  expect(budgets).toMatchObject([
    { period: 'day', amount: 2, spent: 2 },
    { period: 'month', amount: 1_000, spent: 2 },
  ])
  // Its tenant has no budget.
  await ask(green)
  const { body: metrics } = await read('/metrics', scraper)
  expect(metrics).toContain('haversack_tenant_requests_total{tenant="red"} 2')
  expect(metrics).not.toContain('green')
  expect(metrics).toContain('haversack_tenant_billed_total{tenant="blue"} 1000000')
  expect(metrics).toContain('haversack_budget_used_ratio{tenant="red",period="day"} 1')
  // Nothing is blocked.
  await ask(red)
})
