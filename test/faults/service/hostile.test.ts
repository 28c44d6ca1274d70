import { once } from 'node:events'
import { connect } from 'node:net'
import { Packr } from 'msgpackr'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FIXED_LIMITS } from '../../../src/config/fixed-limits.ts'
import { json, startTestService } from '../../integration/service/harness.ts'
import { FULL_RUNS } from '../../support/runs.ts'

const MIB = 1024 * 1024
const packr = new Packr({ useRecords: false })
/** The default; a short run does with smaller bodies, which cost as much less. */
const BODY_BYTES = FULL_RUNS ? 16 * MIB : MIB
let service: Awaited<ReturnType<typeof startTestService>>

beforeAll(async () => {
  const settings = {
    workers: { count: 2 },
    limits: { drain_timeout_ms: 500, max_body_bytes: BODY_BYTES },
  }
  const envelope = { ...FIXED_LIMITS.envelope, maxValues: BODY_BYTES / 4 }
  service = await startTestService(settings, { limits: { envelope } })
})
afterAll(() => service.close())

/**
 * Sends bytes as they are and gives back what came until the connection ended, or `until` stands in
 * it.
 */
function raw(bytes: string, until = /\r\n\r\n[\s\S]*\}/): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () =>
      socket.write(bytes),
    )
    let got = ''
    socket.on('data', chunk => {
      got += chunk
      if (until.test(got)) {
        socket.destroy()
        resolve(got)
      }
    })
    socket.on('close', () => resolve(got))
    socket.on('error', reject)
  })
}

async function code(response: Promise<Response>): Promise<unknown> {
  return (await json(response))['code'] ?? 'accepted'
}

describe('envelopes', () => {
  it.each([
    [
      'one byte more than is allowed',
      () => `{"content":"${'x'.repeat(BODY_BYTES - 13)}"}`,
      'payload_too_large',
    ],
    [
      '100,000 levels',
      () => '{"content":"x","args":'.concat('['.repeat(100_000)),
      'invalid_request',
    ],
    ['empty arrays without end', () => `[${'[],'.repeat(BODY_BYTES / 3 - 1)}1]`, 'invalid_request'],
    [
      'empty arrays in args',
      () => `{"content":"","args":[${'[],'.repeat(BODY_BYTES / 3 - 20)}1]}`,
      'invalid_request',
    ],
    ['quotes alone', () => '"'.repeat(BODY_BYTES), 'invalid_request'],
    ['backslashes in a string', () => `"${'\\'.repeat(BODY_BYTES - 1)}`, 'invalid_request'],
  ])('%s', async (_, body, expected) => {
    expect(await code(service.post('/v1/encode', body()))).toBe(expected)
    expect(await code(service.post('/v1/count', '{"content":"x"}'))).toBe('accepted')
  })

  it('of MessagePack: nesting, lies about lengths, extensions', async () => {
    const send = (bytes: Uint8Array<ArrayBuffer>) =>
      code(
        service.post('/v1/count', bytes, {
          'content-type': 'application/msgpack',
          accept: 'application/json',
        }),
      )
    expect(await send(new Uint8Array(100_000).fill(0x91))).toBe('invalid_request')
    expect(await send(Uint8Array.from([0xdd, 0xff, 0xff, 0xff, 0xff]))).toBe('invalid_request')
    expect(await send(new Uint8Array(0))).toBe('invalid_request')
    const good = packr.pack({ content: 'x' }) as Uint8Array<ArrayBuffer>
    expect(await send(good.slice(0, -1))).toBe('invalid_request')
    expect(await send(good.slice())).toBe('accepted')
  })
})

describe('content that fills a body', () => {
  const envelope = (content: string) => new TextEncoder().encode(JSON.stringify({ content }))
  /**
   * As often as it fits a body, where its quotes and line ends are escaped; a little stays free.
   */
  function fill(text: string): string {
    const escapedBytes = envelope(text).length - envelope('').length
    return text.repeat(Math.floor((BODY_BYTES - 100) / escapedBytes))
  }
  it.each([
    ['empty arrays', () => `[${fill('[],')}1]`],
    ['one key after the other', () => `{${fill('"a":1,')}"b":2}`],
    ['open brackets', () => fill('[')],
    ['quotes', () => fill('""')],
    ['one letter', () => fill('x')],
    ['blanks', () => fill(' ')],
    ['table rows', () => `|a|\n|-|\n${fill('|x|\n')}`],
  ])('of %s is answered without loss', async (_, content) => {
    const body = envelope(content())
    expect(body.length).toBeGreaterThan(BODY_BYTES - 200)
    expect(await json(service.post('/v1/encode', body))).toMatchObject({ lossless: true })
  })
})

describe('connections', () => {
  it('that break off in the body harm no one', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.write(
      'POST /v1/encode HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n',
    )
    socket.end('content-length: 100\r\n\r\n{"con')
    await once(socket.resume(), 'close')
    expect(await code(service.post('/v1/count', '{"content":"x"}'))).toBe('accepted')
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain('haversack_admitted_jobs 0')
  })

  it('that send chunks are served, and bounded by the body limit', async () => {
    const head =
      'POST /v1/count HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
    expect(await raw(`${head}5\r\n{"con\r\nb\r\ntent":"a b"\r\n1\r\n}\r\n0\r\n\r\n`)).toContain(
      '"tokens":2',
    )
    const chunk = `${MIB.toString(16)}\r\n${'x'.repeat(MIB)}\r\n`
    const endless = `${head}${chunk.repeat(BODY_BYTES / MIB + 1)}`
    expect(await raw(endless)).toContain('payload_too_large')
  })

  it('with both lengths, or bad ones, are refused by the parser', async () => {
    const head = 'POST /v1/count HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
    for (const lengths of [
      'content-length: 5\r\ntransfer-encoding: chunked',
      'content-length: -1',
      'content-length: 1\r\ncontent-length: 2',
    ]) {
      expect(await raw(`${head}${lengths}\r\n\r\n{"content":""}`, /\r\n\r\n/)).toContain('400')
    }
  })
})
