import './seventh-dialect.ts'
import { expect, it, onTestFinished } from 'vitest'
import { guessRoute } from '../../src/cli/proxy/check-request.ts'
import { namedBaseUrls, namedUpstreams } from '../../src/cli/run/own-service.ts'
import { configSchema } from '../../src/config/config.ts'
import { FIXED_LIMITS } from '../../src/config/fixed-limits.ts'
import { readPrices } from '../../src/config/prices.ts'
import { upstreamsOf } from '../../src/config/upstreams.ts'
import { savingsAnswer } from '../../src/core/contract/savings.ts'
import {
  billingVendor,
  billRequest,
  pricesFor,
  vendorOf,
} from '../../src/core/conversation/usage/billing.ts'
import { createUsageReader } from '../../src/core/conversation/usage/usage-reader.ts'
import type { RouteName, VendorName } from '../../src/core/dialects/lookup.ts'
import { BYTE_OPERATIONS } from '../../src/core/operations/registry.ts'
import { rewriteOp } from '../../src/core/operations/rewrite-op.ts'
import { paysByToken } from '../../src/http/proxy/life-terms.ts'
import { rewritableAs } from '../../src/http/proxy/rewritable-request.ts'
import { createVendorProxies, vendorProxyFor } from '../../src/http/proxy/vendor-proxies.ts'
import { vendorErrorBody, vendorErrorEvent } from '../../src/proxy/vendor-errors.ts'
import { localContext } from '../support/local-context.ts'
import { inContext } from '../unit/http/http-context.ts'

const route = 'seventh_turns' as RouteName
const vendor = 'newcomer' as VendorName
const rows = Array.from({ length: 40 }, (_, at) => ({ id: 100 + at, status: 'open', owner: 'me' }))
const request = {
  abilities: [{ name: 'list_orders' }],
  turns: [
    { from: 'user', text: 'list them' },
    { from: 'model', call: { id: 'c1', name: 'list_orders', with: { page: 1 } } },
    { from: 'tools', of: 'c1', gave: JSON.stringify(rows) },
  ],
}

const aws = { region: 'eu-west-1', access_key_id: 'id', secret_access_key: 'key' }

it('a seventh dialect in one file and a row has its requests rewritten', async () => {
  const { proxy: settings } = configSchema.parse({
    proxy: { upstreams: [{ name: 'new', url: 'http://a.test/api', dialect: 'seventh', aws }] },
  })
  expect(upstreamsOf(settings)).toMatchObject([{ place: '/up/new', dialect: 'seventh' }])
  const proxies = createVendorProxies(settings, {
    limits: FIXED_LIMITS.forward,
    env: {},
    secret: text => () => text,
    onBug: () => {},
  })
  onTestFinished(async () => void (await Promise.all(proxies.map(each => each.forwarder.close()))))
  const { proxy, path } = vendorProxyFor(proxies, '/up/new/talk/nc-1')!
  const signed = proxy.sign!({
    method: 'POST',
    path,
    headers: ['Host', 'a.test'],
    body: new Uint8Array(),
  })
  expect(signed.join()).toContain('/eu-west-1/newcomer/aws4_request')
  expect([proxy.vendor, path]).toEqual(['newcomer', '/talk/nc-1'])
  const headers = { 'content-type': 'application/json' }
  const body = await inContext({ method: 'POST', headers }, c => rewritableAs(c, path))
  expect(body).toEqual({ shape: route, model: 'nc-1' })
  const sent = BYTE_OPERATIONS[rewriteOp(route)]!.run(
    Buffer.from(JSON.stringify(request)),
    localContext(),
  )
  const { turns: after, ...rest } = JSON.parse(Buffer.from(sent.bytes!).toString())
  expect(rest).toEqual({ abilities: request.abilities })
  expect(after.slice(0, 2)).toEqual(request.turns.slice(0, 2))
  expect(after[2].gave.length).toBeLessThan(request.turns[2]!.gave!.length / 2)
  expect(guessRoute(request)).toEqual({ route, sign: 'turns' })
})

it('a seventh dialect has usage, a bill and errors of its own', () => {
  const reader = createUsageReader(route, 'events')
  const answer = { by: 'nc-1', spent: { sent: 60, reused: 40, said: 10 } }
  reader.read(Buffer.from(`data: ${JSON.stringify(answer)}\n\n`))
  const { usage, model } = reader.found!
  expect(usage).toMatchObject({ uncached: 60, cache_read: 40, output: 10 })
  expect([vendorOf(model), billingVendor(vendor, route, model)]).toEqual([vendor, vendor])
  const published = readPrices(`[[price]]
    vendor = "newcomer"
    uncached = 2
    cached = 1
    written = 2
    written_long = 2
    output = 6
    cache_life_seconds = 60
    date = "2026-01-02"
    source = "https://newcomer.test/prices"`)
  const prices = pricesFor(vendor, model, [published])
  const bill = billRequest(
    { usage, saved: [{ at: 1, tokens: 50, messages: 0 }], lostCache: 0 },
    prices,
  )
  expect(bill).toMatchObject({ billed: 60 + 20 + 30, without: 60 + 20 + 30 + 50 })
  expect(savingsAnswer.shape.vendors.safeParse({ [vendor]: 1 }).error?.issues).toMatchObject([
    { code: 'invalid_type', path: [vendor] },
  ])
  const failure = { status: 504, code: 'upstream_timeout', message: 'too late' }
  expect(vendorErrorBody(vendor, failure)).toBe('{"fault":[504,"too late"]}')
  expect(vendorErrorEvent(vendor, failure)).toBe(
    'event: fault\ndata: {"fault":[504,"too late"]}\n\n',
  )
})

it('a seventh dialect has a login of its own', () => {
  const pays = (headers: Record<string, string>) => paysByToken(vendor, name => headers[name])
  expect(pays({ 'x-api-key': 'k' })).toBe(true)
  expect(pays({ 'x-api-key': 'k', 'x-newcomer': 'a login' })).toBe(false)
})

it('a seventh dialect is one that run puts its proxy before', () => {
  const named = (env: Record<string, string>) =>
    namedUpstreams(env, []).find(({ name }) => name === 'seventh')
  expect(named({})).toMatchObject({ dialect: 'seventh', url: 'https://api.newcomer.test' })
  expect(named({ SEVENTH_URL: 'http://b.test/' })).toMatchObject({ url: 'http://b.test' })
  const urls = namedBaseUrls('http://127.0.0.1:1/s', namedUpstreams({}, []))
  expect(urls).toMatchObject({ SEVENTH_URL: 'http://127.0.0.1:1/s/up/seventh' })
})
