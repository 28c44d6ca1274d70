import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSmallService } from '../../integration/service/harness.ts'

type TestService = Awaited<ReturnType<typeof startSmallService>>

const TOOL = 'haversack_retrieve'
const MiB = 1024 * 1024

let service: TestService
let vendor: Server
let answer: (response: ServerResponse) => void
let requests = 0

beforeAll(async () => {
  vendor = createServer((request, response) => {
    requests++
    request.resume().on('end', () => answer(response))
  })
  await new Promise<void>(resolve => vendor.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
  const names = ['anthropic', 'openai'] as const
  const upstreams = names.map(name => ({ name, url, dialect: name }))
  service = await startSmallService({ workers: { count: 1 }, proxy: { redeem: 'auto', upstreams } })
})

afterAll(async () => {
  await service.close()
  vendor.closeAllConnections()
  vendor.close()
})

const EVENTS = { 'content-type': 'text/event-stream' }
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const streamed = (...parts: readonly string[]) => {
  answer = response => {
    response.writeHead(200, EVENTS)
    for (const part of parts) response.write(part)
    response.end()
  }
}

let openings = 0
const ask = (path: string, more: object = {}) =>
  fetch(`${service.url}/up/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'm', stream: true, store: false, max_tokens: 9 },
      [path.endsWith('responses') ? 'input' : 'messages']: [
        { role: 'user', content: `Case ${openings++}.` },
      ],
      tools: [{ name: 'x', type: 'function', function: { name: 'x' }, input_schema: {} }],
      ...more,
    }),
  })

const PATHS = ['anthropic/v1/messages', 'openai/v1/chat/completions', 'openai/v1/responses']

describe.each(PATHS)('a vendor at %s', path => {
  it.each([
    ['a stream of no events', 'nothing of the kind'],
    ['events of no JSON', 'data: {"type":\n\ndata: ]\n\n'],
    ['events that are lists and texts', 'data: []\n\ndata: "x"\n\ndata: 7\n\ndata: null\n\n'],
    ['an index that is none', event({ type: 'content_block_delta', index: 'x', delta: 7 })],
    ['deltas of what never began', event({ type: 'content_block_delta', index: 3, delta: {} })],
    [
      'choices of no kind',
      event({ choices: [{ index: 0, delta: { tool_calls: [null, 7, {}] } }] }),
    ],
    ['an item of no kind', event({ type: 'response.output_item.done', output_index: 0, item: 7 })],
    ['names of objects', event({ type: '__proto__', choices: { constructor: 1 } })],
    ['an end of one half', event({ type: 'message_start' }).slice(0, -1)],
  ])('that sends %s reaches its client with it', async (_, text) => {
    streamed(text)
    const received = await ask(path)
    expect(received.status).toBe(200)
    expect(await received.text()).toBe(text)
  })

  it('that sends one event of 9 MiB reaches its client with it', async () => {
    const long = `data: {"x":"${'y'.repeat(9 * MiB)}"}\n\n`
    streamed(long)
    expect((await (await ask(path)).text()).length).toBe(long.length)
  })

  it('that sends an answer of 20 MiB in one piece reaches its client with it', async () => {
    const long = JSON.stringify({ content: 'y'.repeat(20 * MiB) })
    answer = response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(long)
    }
    expect((await (await ask(path, { stream: false })).text()).length).toBe(long.length)
  })

  it('that breaks off an answer is reported', async () => {
    answer = response => {
      response.writeHead(200, EVENTS)
      response.write(event({ type: 'ping' }))
      setImmediate(() => response.destroy())
    }
    expect(await (await ask(path)).text()).toMatch(/"error":\{.*\n\n$/)
    streamed('data: {}\n\n')
    expect((await ask(path)).status).toBe(200)
  })
})

describe('a model that only fetches', () => {
  const call = (id: number) => [
    event({ type: 'message_start', message: { usage: {} } }),
    event({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: `c${id}`, name: TOOL, input: {} },
    }),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} }),
    event({ type: 'message_stop' }),
  ]

  it('is asked six times at most', async () => {
    const before = requests
    answer = response => {
      response.writeHead(200, EVENTS)
      response.end(call(requests).join(''))
    }
    const text = await (await ask('anthropic/v1/messages')).text()
    expect(requests - before).toBe(6)
    expect(text).not.toContain(TOOL.concat('","input'))
    expect(text).toContain('end_turn')
  })

  it('gets no second round if its first answer has another coding than it says', async () => {
    const before = requests
    answer = response => {
      response.writeHead(200, { ...EVENTS, 'content-encoding': 'gzip' })
      response.end('not gzip at all')
    }
    expect(await (await ask('anthropic/v1/messages')).text()).toMatch(/^event: error\n/)
    expect(requests - before).toBe(1)
  })
})
