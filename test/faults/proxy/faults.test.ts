import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Agent, request as httpRequest, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from 'vitest'
import {
  answerOf,
  begin,
  exchange,
  expectNothingHeld,
  figure,
  serviceBefore,
  type TestService,
} from '../../integration/proxy/watched-service.ts'
import { startSmallService } from '../../integration/service/harness.ts'
import { CONVERSATIONS } from '../../integration/service/proxy-conversations.ts'
import {
  answerOk,
  type Recorded,
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { eventually } from '../../support/eventually.ts'

const { path: MESSAGES, body: messages } = CONVERSATIONS['anthropic']!
const { path: CHAT, body: chat } = CONVERSATIONS['chat']!
const OUTCOMES = 'haversack_proxy_exchanges_total'

/** Sockets of the service and the upstream, both ends. */
const sockets = new Set<Socket>()
const collect = (said: unknown) => sockets.add((said as { readonly socket: Socket }).socket)
const CHANNELS = ['net.client.socket', 'net.server.socket']

let upstream: RecordingUpstream
let service: TestService

beforeAll(async () => {
  for (const name of CHANNELS) subscribe(name, collect)
  upstream = await recordingUpstream()
  const proxy = { anthropic_url: upstream.url, openai_url: upstream.url }
  const limits = { rewriteBytes: 100_000 }
  service = await startSmallService({ workers: { count: 1 }, proxy }, { limits })
})
beforeEach(() => upstream.answerWith(answerOk))
afterEach(() => expectNothingHeld(service))
afterAll(async () => {
  for (const name of CHANNELS) unsubscribe(name, collect)
  await service.close()
  await upstream.close()
})

/** The next request that the upstream gets, whose answer is left to the caller. */
function nextAsked(): Promise<{ readonly response: ServerResponse; readonly asked: Recorded }> {
  return new Promise(resolve =>
    upstream.answerWith((response, asked) => resolve({ response, asked })),
  )
}

function events(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('data: {}\n\n')
}

describe('a client that goes away', () => {
  it.each([
    ['of a known length', { 'content-length': 90_000 }],
    ['in chunks', {}],
  ])('while its body %s is read, leaves nothing behind', async (_, headers) => {
    const request = begin(service, MESSAGES, headers)
    request.write(messages(1))
    await eventually(async () => {
      expect(await figure(service, 'haversack_admitted_bytes')).toBe(messages(1).length)
    })
    request.destroy()
    await expectNothingHeld(service)
    expect(upstream.requests).toEqual([])
  })

  it('while the model thinks, cancels its rewritten request', async () => {
    const next = nextAsked()
    const request = begin(service, MESSAGES)
    request.end(messages(1))
    const closed = once((await next).response, 'close')
    expect(await figure(service, 'haversack_admitted_jobs')).toBe(1)
    request.destroy()
    await closed
    await expectNothingHeld(service)
    expect(await figure(service, `${OUTCOMES}{vendor="anthropic",outcome="aborted"}`)).toBe(1)
  })

  it('holds its place for a body that was too large, until that has been forwarded', async () => {
    const next = nextAsked()
    const request = begin(service, MESSAGES)
    const answered = answerOf(request)
    // Its length is told by its end only.
    request.write(messages(200))
    request.end()
    const { response, asked } = await next
    expect(asked.body.toString()).toBe(messages(200))
    expect(await figure(service, 'haversack_admitted_jobs')).toBe(1)
    expect(await figure(service, 'haversack_admitted_bytes')).toBeGreaterThan(0)
    answerOk(response, asked)
    expect((await answered).status).toBe(200)
  })
})

describe('an upstream that fails behind a rewritten request', () => {
  it.each([
    ['between two events', MESSAGES, messages(1), 'event: error\ndata: {"type":"error"', true],
    ['between two chunks', CHAT, chat(1), 'data: {"error":{', true],
  ])('%s gives the vendor’s error event', async (_, path, body, error, whole) => {
    upstream.answerWith(response => {
      events(response)
      setImmediate(() => response.socket?.resetAndDestroy())
    })
    const got = await exchange(service, path, body)
    expect(upstream.last().body.length).toBeLessThan(body.length)
    expect(got).toMatchObject({ status: 200, whole })
    expect(got.text.startsWith(`data: {}\n\n${error}`)).toBe(true)
  })

  it('before it answers gives the vendor’s error', async () => {
    upstream.answerWith(response => void response.socket?.resetAndDestroy())
    expect(await exchange(service, MESSAGES, messages(1))).toMatchObject({
      status: 502,
      text: expect.stringContaining('"api_error"'),
    })
    expect(await exchange(service, CHAT, chat(1))).toMatchObject({
      status: 502,
      text: expect.stringContaining('"upstream_broken"'),
    })
  })

  it('by being slow gives the error of the limit that it passed', async () => {
    const forward = { connect_ms: 10_000, headers_ms: 150, idle_ms: 150, total_ms: 1_000 }
    const slow = await serviceBefore(upstream.url, {}, { limits: { forward } })
    upstream.answerWith(() => undefined)
    expect(await exchange(slow, MESSAGES, messages(0))).toMatchObject({
      status: 504,
      text: expect.stringContaining('"timeout_error"'),
    })
    upstream.answerWith(events)
    expect(await exchange(slow, MESSAGES, messages(1))).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^data: \{\}\n\nevent: error\ndata: .*"timeout_error"/),
    })
    upstream.answerWith(response => {
      events(response)
      const drip = setInterval(() => response.write('data: {}\n\n'), 20)
      response.once('close', () => clearInterval(drip))
    })
    expect(await exchange(slow, CHAT, chat(1))).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^(?:data: \{\}\n\n){2,}data: .*"upstream_timeout"/),
    })
    await expectNothingHeld(slow)
  })
})

it('connections that are used again do not gather listeners', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const turn = async (body: string) => {
    const headers = { 'content-type': 'application/json' }
    const request = httpRequest(service.url + MESSAGES, { method: 'POST', agent, headers })
    const answered = answerOf(request)
    request.end(body)
    expect((await answered).whole).toBe(true)
  }
  for (const n of [0, 1, 2]) await turn(messages(n))
  const kept = [...sockets].filter(({ destroyed }) => !destroyed)
  // One to the service and one from it at least, and their other ends.
  expect(kept.length).toBeGreaterThanOrEqual(4)
  const listeners = () =>
    kept.map(socket =>
      socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0),
    )
  const before = listeners()
  for (let n = 3; n < 15; n += 1) await turn(messages(n))
  expect(listeners()).toEqual(before)
})
