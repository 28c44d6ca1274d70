import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { json, startSmallService } from '../../integration/service/harness.ts'
import { eventually } from '../../support/eventually.ts'
import { FULL_RUNS } from '../../support/runs.ts'

let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  service = await startSmallService({
    workers: { count: 1 },
    limits: { max_queue_wait_ms: 60_000, drain_timeout_ms: 500 },
  })
})
afterAll(() => service.close())

/** The value of a metric without labels. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

function send(content: string): Promise<Socket> {
  const body = JSON.stringify({ content })
  const head = `POST /v1/encode HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.pause()
    socket.on('error', reject)
    socket.write(head + body, () => resolve(socket))
  })
}

describe('a client', () => {
  it('that does not read its answer keeps its place, and loses it when it hangs up', async () => {
    const socket = await send('text that passes through '.repeat(400_000))
    const size = 10_000_000
    // The request's bytes and the answer's.
    await eventually(async () =>
      expect(await metric('haversack_admitted_bytes')).toBeGreaterThanOrEqual(2 * size),
    )
    expect(await metric('haversack_admitted_jobs')).toBe(1)
    socket.destroy()
    await eventually(async () => expect(await metric('haversack_admitted_jobs')).toBe(0))
    expect(await metric('haversack_admitted_bytes')).toBe(0)
  })

  it('that hangs up before its turn costs no thread', async () => {
    const sockets = await Promise.all(
      Array.from({ length: FULL_RUNS ? 20 : 5 }, () => send('word '.repeat(600_000))),
    )
    for (const socket of sockets) socket.destroy()
    await eventually(async () => expect(await metric('haversack_admitted_jobs')).toBe(0))
    expect(await json(service.post('/v1/count', '{"content":"a b"}'))).toMatchObject({ tokens: 2 })
  })

  it('that sends its body in single bytes is served', async () => {
    const body = JSON.stringify({ content: 'a b' })
    const chunks = [...body].map(char => `1\r\n${char}\r\n`).join('')
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.write(
      `POST /v1/count HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    )
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer).toContain('"tokens":2')
  })
})

describe('what is not HTTP', () => {
  /** All that the service answers to these bytes. */
  async function answerTo(bytes: string): Promise<string> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.end(bytes)
    let answer = ''
    for await (const chunk of socket) answer += chunk
    return answer
  }

  it.each([
    ['no request line', 'hello\r\n\r\n', 400],
    ['a space in a header name', 'GET / HTTP/1.1\r\nhost: localhost\r\na b: c\r\n\r\n', 400],
    ['obsolete folding', 'GET / HTTP/1.1\r\nhost: localhost\r\na: b\r\n c\r\n\r\n', 400],
    [
      'headers of 20 kB',
      `GET / HTTP/1.1\r\nhost: localhost\r\na: ${'b'.repeat(20_000)}\r\n\r\n`,
      431,
    ],
  ])('is answered as a problem: %s', async (_, bytes, status) => {
    const answer = await answerTo(bytes)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    const problem = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
    expect(problem).toMatchObject({ code: 'invalid_request', status })
  })

  it('is answered without Host as if it were for localhost', async () => {
    expect(await answerTo('GET /livez HTTP/1.0\r\n\r\n')).toContain('200 OK')
  })
})
