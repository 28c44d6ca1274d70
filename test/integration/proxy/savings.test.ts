import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import {
  ANTHROPIC_EVENTS,
  ANTHROPIC_MESSAGE,
  CHAT_COMPLETION,
  CHAT_EVENTS,
  events,
  RESPONSE,
  responseEvents,
} from '../../unit/core/conversation/usage/answers.ts'
import { json, startSmallService } from '../service/harness.ts'
import { CONVERSATIONS } from '../service/proxy-conversations.ts'
import { type RecordingUpstream, recordingUpstream } from '../service/recording-upstream.ts'

type TestService = Awaited<ReturnType<typeof startSmallService>>

/** A service, as one tenant of it. */
interface Client {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** What is told of a vendor. */
interface SavingsRecord {
  readonly requests: number
  readonly without_usage: number
  readonly usage: Readonly<Record<string, number>>
  readonly figures: { readonly results: { readonly count: number } }
  readonly removed: readonly { readonly tokenizer: string; readonly tokens: number }[]
  readonly input_tokens: Readonly<Record<'billed' | 'without' | 'saving', number>>
}

interface Savings {
  readonly vendors: Readonly<Partial<Record<string, SavingsRecord>>>
  readonly conversations: readonly (SavingsRecord & Readonly<Record<string, unknown>>)[]
}

const ANTHROPIC = CONVERSATIONS['anthropic']!
const CHAT = CONVERSATIONS['chat']!
const RESPONSES = CONVERSATIONS['responses']!

/** Enough for a tenant a test. */
const TENANTS = Array.from({ length: 16 }, (_, n) => `t${n}`)
const keys = TENANTS.map(tenant => keyFor(tenant, { scopes: ['proxy'] }))

let upstream: RecordingUpstream
let shared: TestService
const folders: string[] = []
const services = new Set<TestService>()

beforeAll(async () => {
  upstream = await recordingUpstream()
  const keys_file = join(newFolder(), 'keys.json')
  writeKeysFile(keys_file, ...keys)
  shared = await start({ keys_file })
})

afterAll(async () => {
  for (const service of services) await service.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  await upstream.close()
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-savings-'))
  folders.push(folder)
  return folder
}

async function start(settings: object = {}): Promise<TestService> {
  const proxy = { anthropic_url: upstream.url, openai_url: upstream.url }
  const service = await startSmallService({ workers: { count: 1 }, proxy, ...settings })
  services.add(service)
  return service
}

/** The service that most tests share, as a tenant that none was before. */
function newTenant(): Client {
  const key = keys.pop()!.key
  const headers = { authorization: `Bearer ${key}`, 'x-haversack-key': key }
  return { url: shared.url, headers }
}

const whole = ({ url }: TestService): Client => ({ url, headers: {} })

async function stop(service: TestService): Promise<void> {
  services.delete(service)
  await service.close()
}

async function savingsOf({ url, headers }: Client, query = ''): Promise<Savings> {
  return (await json(fetch(`${url}/v1/savings${query}`, { headers }))) as unknown as Savings
}

/**
 * The totals of a vendor once it has so many requests: an answer is accounted for behind its end.
 */
async function answerOf(client: Client, vendor: string, requests: number): Promise<SavingsRecord> {
  return await eventually(async () => {
    const record = (await savingsOf(client)).vendors[vendor]
    expect(record?.requests).toBe(requests)
    return record!
  })
}

function answer(response: ServerResponse, type: string, body: Uint8Array | string, more = {}) {
  response.writeHead(200, { 'content-type': type, ...more })
  response.end(body)
}

const JSON_TYPE = 'application/json; charset=utf-8'
const EVENTS_TYPE = 'text/event-stream'
const JSON_MESSAGE = JSON.stringify(ANTHROPIC_MESSAGE)

async function send(client: Client, path: string, body: string, more = {}) {
  const headers = { 'content-type': 'application/json', ...client.headers, ...more }
  const response = await fetch(client.url + path, { method: 'POST', body, headers })
  return { status: response.status, text: await response.text() }
}

describe('the accounts of the proxies', () => {
  it('have what each API says, in answers and in streams', async () => {
    const client = whole(await start())
    const cases = [
      [ANTHROPIC, JSON_TYPE, JSON_MESSAGE],
      [ANTHROPIC, EVENTS_TYPE, events(ANTHROPIC_EVENTS)],
      [CHAT, JSON_TYPE, JSON.stringify(CHAT_COMPLETION)],
      [CHAT, EVENTS_TYPE, CHAT_EVENTS],
      [RESPONSES, JSON_TYPE, JSON.stringify(RESPONSE)],
      [RESPONSES, EVENTS_TYPE, events(responseEvents('completed'))],
    ] as const
    for (const [{ path, body }, type, said] of cases) {
      upstream.answerWith(response => answer(response, type, said))
      expect(await send(client, path, body(0))).toEqual({ status: 200, text: said })
    }
    expect(await answerOf(client, 'anthropic', 2)).toMatchObject({
      without_usage: 0,
      usage: {
        uncached_tokens: 42,
        cache_read_tokens: 36_000,
        cache_write_tokens: 2_000,
        cache_write_long_tokens: 400,
        output_tokens: 176,
      },
    })
    expect(await answerOf(client, 'openai', 4)).toMatchObject({
      without_usage: 0,
      usage: {
        uncached_tokens: 2 * (86 + 904),
        cache_read_tokens: 2 * (1_920 + 3_072),
        cache_write_tokens: 2_000,
        cache_write_long_tokens: 48,
        output_tokens: 2 * (300 + 40),
      },
    })
    const text = await (await fetch(`${client.url}/metrics`)).text()
    expect(text).toContain(
      'haversack_proxy_tokens_total{vendor="anthropic",kind="cache_write"} 2400',
    )
    expect(text).toMatch(/haversack_proxy_billed_saved_total\{vendor="anthropic"\} [1-9]/)
    expect(text).toContain('haversack_proxy_billed_lost_total{vendor="anthropic"} 0')
  })

  it('have what was removed, by conversation, and nothing for what was left as it is', async () => {
    const client = newTenant()
    upstream.answerWith(response => answer(response, JSON_TYPE, JSON_MESSAGE))
    for (const turn of [0, 1, 2]) await send(client, ANTHROPIC.path, ANTHROPIC.body(turn))
    const before = await answerOf(client, 'anthropic', 3)
    const [removed] = before.removed
    expect(removed).toMatchObject({ tokenizer: 'anthropic_class', exact: false })
    const { billed, without, saving } = before.input_tokens
    expect(saving).toBeGreaterThan(0)
    expect(saving).toBeLessThanOrEqual(removed!.tokens * 2)
    expect(without - billed).toBeCloseTo(saving, 1)
    const bypass = { 'x-haversack-bypass': 'true' }
    await send(client, ANTHROPIC.path, ANTHROPIC.body(3), bypass)
    const after = await answerOf(client, 'anthropic', 4)
    expect(after.removed).toEqual(before.removed)
    expect(after.input_tokens.saving).toBeCloseTo(saving, 1)
    const { conversations } = await savingsOf(client)
    expect(conversations).toMatchObject([{ vendor: 'anthropic', requests: 3 }])
    const name = conversations[0]?.['conversation']
    expect(name).toMatch(/^[0-9a-f]{16}$/)
    const one = await savingsOf(client, `?conversation=${name}`)
    expect(one.conversations).toEqual(conversations)
    const none = await savingsOf(client, `?conversation=${'0'.repeat(16)}`)
    expect(none.conversations).toEqual([])
    expect((await savingsOf(client, '?limit=0')).conversations).toEqual([])
    for (const query of [
      '?limit=201',
      '?limit=x',
      '?conversation=x',
      '?limit=1&limit=2',
      '?of=a',
    ]) {
      expect((await fetch(`${client.url}/v1/savings${query}`, client)).status, query).toBe(400)
    }
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('read compressed answers (%s), which pass as they are', async (coding, compress) => {
    const client = newTenant()
    const sent = compress(Buffer.from(events(ANTHROPIC_EVENTS)))
    upstream.answerWith(response => {
      response.writeHead(200, { 'content-type': EVENTS_TYPE, 'content-encoding': coding })
      for (const byte of sent) response.write(Uint8Array.of(byte))
      response.end()
    })
    expect(await rawAnswer(client)).toEqual(sent)
    expect(await answerOf(client, 'anthropic', 1)).toMatchObject({
      without_usage: 0,
      usage: { cache_read_tokens: 18_000, output_tokens: 88 },
    })
  })

  it('do without what cannot be read: other types, codings that are none, a bomb', async () => {
    const client = newTenant()
    const bomb = gzipSync(
      Buffer.concat([Buffer.alloc(40 * 1024 * 1024, ' '), Buffer.from(JSON_MESSAGE)]),
      { level: 1 },
    )
    const cases = [
      ['text/plain', JSON_MESSAGE, {}],
      [JSON_TYPE, JSON_MESSAGE, { 'content-encoding': 'gzip' }],
      [JSON_TYPE, gzipSync(gzipSync(JSON_MESSAGE)), { 'content-encoding': 'gzip, gzip' }],
      [JSON_TYPE, bomb, { 'content-encoding': 'gzip' }],
      [JSON_TYPE, '{"usage":', {}],
    ] as const
    for (const [type, body, more] of cases) {
      upstream.answerWith(response => answer(response, type, body, more))
      expect(await rawAnswer(client)).toEqual(Buffer.from(body))
    }
    const record = await answerOf(client, 'anthropic', cases.length)
    expect(record).toMatchObject({ without_usage: cases.length, removed: [] })
    expect(record.input_tokens).toEqual({ billed: 0, without: 0, saving: 0 })
  })

  it('leave out errors, and counts of tokens', async () => {
    const client = newTenant()
    upstream.answerWith(response => {
      response.writeHead(529, { 'content-type': JSON_TYPE })
      response.end(JSON_MESSAGE)
    })
    expect((await send(client, ANTHROPIC.path, ANTHROPIC.body(0))).status).toBe(529)
    upstream.answerWith(response => answer(response, JSON_TYPE, '{"input_tokens":2095}'))
    await send(client, '/anthropic/v1/messages/count_tokens', ANTHROPIC.body(0))
    for (const path of ['/openai/v1/responses', '/openai/codex/responses']) {
      await send(client, `${path}/input_tokens`, RESPONSES.body(0))
    }
    upstream.answerWith(response => answer(response, JSON_TYPE, JSON_MESSAGE))
    await send(client, '/anthropic/v1/models', '{}')
    await send(client, ANTHROPIC.path, ANTHROPIC.body(0))
    expect(await answerOf(client, 'anthropic', 1)).toMatchObject({ requests: 1 })
    expect((await savingsOf(client)).vendors).not.toHaveProperty('openai')
  })

  it('have each result once, whatever requests it came in', async () => {
    const client = newTenant()
    const resultsAfter = async (requests: number) =>
      (await answerOf(client, 'anthropic', requests)).figures.results.count
    upstream.answerWith(response => answer(response, JSON_TYPE, '{"input_tokens":2095}'))
    await send(client, '/anthropic/v1/messages/count_tokens', ANTHROPIC.body(1))
    upstream.answerWith(response => void response.writeHead(529).end())
    await send(client, ANTHROPIC.path, ANTHROPIC.body(1))
    upstream.answerWith(response => answer(response, JSON_TYPE, JSON_MESSAGE))
    await send(client, ANTHROPIC.path, ANTHROPIC.body(1))
    const results = await resultsAfter(1)
    expect(results).toBeGreaterThan(0)
    // At the same time.
    await Promise.all([2, 2, 2].map(turn => send(client, ANTHROPIC.path, ANTHROPIC.body(turn))))
    const all = await resultsAfter(4)
    expect(all).toBeGreaterThan(results)
    await send(client, ANTHROPIC.path, ANTHROPIC.body(2))
    expect(await resultsAfter(5)).toBe(all)
    const other = newTenant()
    await send(other, ANTHROPIC.path, ANTHROPIC.body(2))
    expect((await answerOf(other, 'anthropic', 1)).figures.results.count).toBe(all)
  })

  it.each(['identity', 'gzip'])('have a stream that the client leaves (%s)', async coding => {
    const client = newTenant()
    const left = Promise.withResolvers<void>()
    upstream.answerWith(response => {
      response.on('close', () => left.resolve())
      response.writeHead(200, { 'content-type': EVENTS_TYPE, 'content-encoding': coding })
      const begun = events(ANTHROPIC_EVENTS.slice(0, 4))
      // Flushed as servers flush streams, without an end.
      response.write(coding === 'gzip' ? gzipSync(begun).subarray(0, -8) : begun)
    })
    const request = httpRequest(`${client.url}${ANTHROPIC.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...client.headers },
      agent: false,
    })
    request.on('error', () => undefined)
    request.on('response', response => response.once('data', () => request.destroy()))
    request.end(ANTHROPIC.body(0))
    await left.promise
    expect(await answerOf(client, 'anthropic', 1)).toMatchObject({
      without_usage: 0,
      usage: { uncached_tokens: 21, cache_read_tokens: 18_000, output_tokens: 1 },
    })
  })

  it('outlive the service, and are those of all processes on one store', async () => {
    const data_dir = newFolder()
    upstream.answerWith(response => answer(response, JSON_TYPE, JSON_MESSAGE))
    const one = await start({ data_dir })
    const two = await start({ data_dir })
    for (const each of [one, two, one]) await send(whole(each), ANTHROPIC.path, ANTHROPIC.body(0))
    await answerOf(whole(one), 'anthropic', 2)
    await Promise.all([stop(one), stop(two)])
    const three = await start({ data_dir })
    const { vendors, conversations } = await savingsOf(whole(three))
    expect(vendors['anthropic']).toMatchObject({ requests: 3, without_usage: 0 })
    expect(conversations).toMatchObject([{ requests: 3, model: 'claude-sonnet-4-5' }])
    // A result that another process has sent, or this one before it was restarted, is known.
    const { results } = vendors['anthropic']!.figures
    expect(results.count).toBeGreaterThan(0)
    await send(whole(three), ANTHROPIC.path, ANTHROPIC.body(0))
    expect((await answerOf(whole(three), 'anthropic', 4)).figures.results).toEqual(results)
    await stop(three)
    const alone = await start()
    await send(whole(alone), ANTHROPIC.path, ANTHROPIC.body(0))
    expect((await answerOf(whole(alone), 'anthropic', 1)).figures.results).toEqual(results)
    await stop(alone)
  })
})

/** The answer to a request, as it was on the wire. */
async function rawAnswer(client: Client): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const request = httpRequest(`${client.url}${ANTHROPIC.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...client.headers },
  })
  request.on('error', reject)
  request.on('response', response => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => resolve(Buffer.concat(chunks)))
  })
  request.end(ANTHROPIC.body(0))
  return await promise
}
