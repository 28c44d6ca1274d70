import { zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type ContentCoding,
  decodeBody,
  encodeBody,
} from '../../../src/core/base/content-coding.ts'
import { dial, message } from '../proxy/stand-in.ts'
import { startSmallService } from './harness.ts'
import { CONVERSATIONS } from './proxy-conversations.ts'
import { answerOk, type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

/**
 * What Codex does beside plain requests: compressed bodies, the paths of a subscription, WebSockets
 * first. `proxy-websocket.test.ts` has conversations over WebSockets.
 */
type TestService = Awaited<ReturnType<typeof startSmallService>>

const MAX_BYTES = 60_000

let upstream: RecordingUpstream
let service: TestService
/** Before an upstream with a path. */
let subscription: TestService

beforeAll(async () => {
  upstream = await recordingUpstream()
  const proxy = { openai_url: upstream.url }
  const limits = { rewriteBytes: MAX_BYTES }
  service = await startSmallService({ workers: { count: 1 }, proxy }, { limits })
  subscription = await startSmallService({
    workers: { count: 1 },
    proxy: { openai_url: `${upstream.url}/backend-api/codex/` },
  })
})

beforeEach(() => upstream.answerWith(answerOk))

afterAll(async () => {
  await service.close()
  await subscription.close()
  await upstream.close()
})

const { body: bodyOf, path: PATH } = CONVERSATIONS['responses']!
const CODINGS: readonly ContentCoding[] = ['zstd', 'gzip', 'deflate', 'br']

/** What the upstream got for a body. */
async function forwarded(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  url = service.url + PATH,
): Promise<Buffer> {
  const all = { 'content-type': 'application/json', ...headers }
  const response = await fetch(url, { method: 'POST', body, headers: all })
  expect(response.status).toBe(200)
  await response.text()
  return upstream.last().body
}

function headerAtUpstream(name: string): string | undefined {
  const { rawHeaders } = upstream.last()
  return rawHeaders[rawHeaders.findIndex(each => each.toLowerCase() === name) + 1]
}

const encoded = (body: string, coding: ContentCoding) =>
  new Uint8Array(encodeBody(Buffer.from(body), coding))

describe('a compressed body', () => {
  it.each(CODINGS)('in %s leaves rewritten, and in the same coding', async coding => {
    const sent = bodyOf(3)
    const plain = (await forwarded(sent)).toString()
    expect(plain.length).toBeLessThan(sent.length)
    const compressed = encoded(sent, coding)
    const got = await forwarded(compressed, { 'content-encoding': coding })
    expect(headerAtUpstream('content-encoding')).toBe(coding)
    expect(headerAtUpstream('content-length')).toBe(`${got.length}`)
    expect(Buffer.from(decodeBody(got, coding, MAX_BYTES)!).toString()).toBe(plain)
  })

  it('begins in each turn as the plain one before', async () => {
    const { close } = CONVERSATIONS['responses']!
    let before = (await forwarded(bodyOf(4))).toString()
    for (const turn of [5, 6]) {
      const headers = { 'content-encoding': 'zstd' }
      const got = zstdDecompressSync(await forwarded(encoded(bodyOf(turn), 'zstd'), headers))
      expect(got.toString().startsWith(before.slice(0, -close.length))).toBe(true)
      before = got.toString()
    }
  })

  it.each<[string, Uint8Array<ArrayBuffer>, string]>([
    ['without a gain', encoded('{ "input" : [ ] }', 'zstd'), 'zstd'],
    ['that breaks off', encoded(bodyOf(3), 'zstd').subarray(0, 90), 'zstd'],
    ['of another coding', encoded(bodyOf(3), 'gzip'), 'zstd'],
    ['in an unknown coding', encoded(bodyOf(3), 'gzip'), 'snappy'],
    ['compressed twice', encoded(bodyOf(3), 'gzip'), 'gzip, zstd'],
    [
      'that is too large without its coding',
      encoded(bodyOf(3) + ' '.repeat(MAX_BYTES), 'zstd'),
      'zstd',
    ],
    ['of nothing', new Uint8Array(0), 'zstd'],
  ])('passes byte for byte: %s', async (_, body, coding) => {
    const got = await forwarded(body, { 'content-encoding': coding })
    expect(got).toEqual(Buffer.from(body))
  })
})

describe('paths', () => {
  it.each([
    ['/openai/v1/responses/compact', () => service.url],
    ['/openai/v1/responses/input_tokens', () => service.url],
    ['/openai/responses', () => service.url],
    ['/openai/responses', () => subscription.url],
    ['/openai/responses/compact?x=1', () => subscription.url],
  ])('that bring the conversation are rewritten alike: %s', async (path, base) => {
    const sent = bodyOf(3)
    const usual = await forwarded(sent)
    expect(usual.length).toBeLessThan(sent.length)
    expect(await forwarded(sent, {}, base() + path)).toEqual(usual)
  })

  it('that only end alike pass', async () => {
    const sent = bodyOf(3)
    for (const path of ['/openai/v1/xresponses', '/openai/v1/responses/compact/x']) {
      expect((await forwarded(sent, {}, service.url + path)).toString()).toBe(sent)
    }
  })
})

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const BETA = 'OpenAI-Beta: responses_websockets=2026-02-06'

/** The head of the answer to a handshake. */
async function shaken(path: string, headers: readonly string[], { url }: TestService) {
  const host = new URL(url).host
  const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...HANDSHAKE, ...headers]
  const wire = dial(new URL(url), message(head))
  try {
    return await wire.until('\r\n\r\n')
  } finally {
    wire.socket.destroy()
  }
}

describe('a conversation over a WebSocket', () => {
  it.each<[string, string, readonly string[]]>([
    ['of another kind', '/openai/v1/realtime', [BETA]],
    ['with X-Haversack-Bypass', '/openai/v1/responses', [BETA, 'X-Haversack-Bypass: true']],
  ])('passes %s', async (_, path, headers) => {
    expect(await shaken(path, headers, service)).toMatch(/^HTTP\/1\.1 101 /)
    expect(upstream.last().line).toBe(`UPGRADE ${path.replace('/openai', '')}`)
  })

  it('passes where nothing is rewritten', async () => {
    const off = await startSmallService({
      workers: { count: 1 },
      compression: { enabled: false },
      proxy: { openai_url: upstream.url },
    })
    try {
      expect(await shaken('/openai/v1/responses', [BETA], off)).toMatch(/^HTTP\/1\.1 101 /)
    } finally {
      await off.close()
    }
  })
})
