import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { checkedJson, LARGE_BYTES } from '../../../src/core/json/bytes/checked-json.ts'
import type { JsonBytes } from '../../../src/core/json/bytes/json-node.ts'
import { readAnswer } from '../../../src/mcp/bridge/read-answer.ts'
import { createEraDispatch } from '../../../src/mcp/fronts/era-dispatch.ts'
import type { HttpExchange } from '../../../src/mcp/fronts/http-exchange.ts'
import { emptyReply } from '../../../src/mcp/fronts/http-replies.ts'
import { serveLines } from '../../../src/mcp/fronts/line-front.ts'
import type { Message } from '../../../src/mcp/json-rpc.ts'
import { createPacker } from '../../../src/mcp/results/pack.ts'
import { SYSTEM_CLOCK } from '../../../src/mcp/upstream/clock.ts'
import { HttpLink } from '../../../src/mcp/upstream/http-transport.ts'
import type { LinkEvents } from '../../../src/mcp/upstream/link.ts'
import { DEFAULT_LIMITS } from '../../../src/mcp/upstream/options.ts'
import { StdioLink } from '../../../src/mcp/upstream/stdio-transport.ts'
import { Guard } from '../../../src/proxy/guard.ts'
import { eventually } from '../../support/eventually.ts'

/** What must not be read in one go: it holds a thread for as long as it is large. */
const LARGE = `{"jsonrpc":"2.0","id":1,"result":{"list":[${'{},'.repeat(LARGE_BYTES)}{}]}}`
const SMALL = '{"jsonrpc":"2.0","method":"after"}'

const guard = new Guard(error => {
  throw error
})

/** Says of each message in turn whether it was checked before it was read. */
function recorder() {
  const seen: boolean[] = []
  const { promise: all, resolve } = Promise.withResolvers<void>()
  const note = (bytes: JsonBytes | null) => {
    seen.push(bytes !== null && checkedJson(bytes) !== undefined)
    if (seen.length === 2) resolve()
  }
  const onMessage = (message: Message) => {
    const isLarge = message.kind === 'response' && message.outcome.kind === 'result'
    note(isLarge ? (message.outcome as { result: JsonBytes }).result : null)
  }
  const events: LinkEvents = {
    onMessage,
    onIgnored: () => expect.fail('ignored'),
    onFailed() {},
    onGone() {},
  }
  return { seen, note, onMessage, events, all }
}

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const REQUEST = {
  id: 1,
  method: 'tools/call',
  params: null,
  mirrored: {},
  message: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call"}'),
} as const

it.each(['application/json', 'text/event-stream'])(
  'a large answer of a server over HTTP as %s is checked before it is read',
  async type => {
    const { seen, events } = recorder()
    const isStream = type === 'text/event-stream'
    const url = await served((_, response) => {
      response.setHeader('content-type', type)
      response.end(isStream ? `data: ${LARGE}\n\n` : LARGE)
    })
    const target = { kind: 'http', url: new URL(url), headers: () => ({}) } as unknown
    const link = new HttpLink(
      target as ConstructorParameters<typeof HttpLink>[0],
      events,
      DEFAULT_LIMITS,
      SYSTEM_CLOCK,
      null,
    )
    onTestFinished(() => link.close())
    link.request(REQUEST as Parameters<typeof link.request>[0])
    await eventually(() => expect(seen).toEqual([true]))
  },
)

it('a large line of a server over stdio is checked before it is read, and the next waits', async () => {
  const { seen, events, all } = recorder()
  const script = `const large='{"jsonrpc":"2.0","id":1,"result":{"list":['+'{},'.repeat(${LARGE_BYTES})+'{}]}}';
    process.stdout.write(large+'\\n'+${JSON.stringify(SMALL)}+'\\n')`
  const target = {
    kind: 'stdio',
    command: process.execPath,
    args: ['-e', script],
    env: {},
    cwd: null,
  }
  const link = new StdioLink(
    { ...target, processEnvironment: process.env } as ConstructorParameters<typeof StdioLink>[0],
    events,
    DEFAULT_LIMITS,
    SYSTEM_CLOCK,
  )
  onTestFinished(() => link.close())
  // The process ends at once, and its answers are read all the same.
  await all
  expect(seen).toEqual([true, false])
})

it('a large line of a client is checked before it is read, and the next waits', async () => {
  const { seen, note, all } = recorder()
  const [input, output] = [new PassThrough(), new PassThrough()]
  const end = serveLines({ input, output, stop: new AbortController().signal }, () => ({
    async receive(_, line) {
      note(line)
      return null
    },
    close: () => Promise.resolve(),
  }))
  input.end(`${LARGE}\n${SMALL}\n`)
  await all
  await end
  expect(seen).toEqual([true, false])
})

it.each(['application/json', 'text/event-stream'])(
  'a large answer of the service as %s is checked before a bridge reads it',
  async type => {
    const { seen, onMessage } = recorder()
    const answer = Object.assign(new PassThrough(), { headers: { 'content-type': type } })
    answer.end(type === 'application/json' ? LARGE : `data: ${LARGE}\n\ndata: ${SMALL}\n\n`)
    await readAnswer(answer as unknown as IncomingMessage, guard, onMessage)
    expect(seen).toEqual(type === 'application/json' ? [true] : [true, false])
  },
)

it('a large body of a client is checked before either front reads it', async () => {
  const { seen, note } = recorder()
  const front = {
    async answer({ body }: HttpExchange) {
      note(body)
      return emptyReply(202)
    },
    close: () => Promise.resolve(),
  }
  const dispatch = createEraDispatch({ legacy: front, modern: front })
  for (const version of ['2025-06-18', '2026-07-28']) {
    await dispatch.answer({
      method: 'POST',
      body: Buffer.from(LARGE),
      header: name => (name === 'mcp-protocol-version' ? version : null),
      caller: { tenant: 'a', credential: 'a' },
      signal: new AbortController().signal,
    })
  }
  expect(seen).toEqual([true, true])
})

it('a large result that a thread has packed is checked before it is read', async () => {
  const body = Buffer.from(LARGE)
  const pack = createPacker({
    pool: {
      run: async () => ({ ok: true, body, reports: [], keep: [], markers: [], dependencies: [] }),
    },
    onReport() {},
    onBug: (error: unknown) => expect.fail(String(error)),
  } as unknown as Parameters<typeof createPacker>[0])
  const result = Buffer.from(`{"content":[{"type":"text","text":"${'x'.repeat(100)}"}]}`)
  const terms = { tool: 'a', mode: 'lossless', structured: 'keep' } as const
  expect(checkedJson(await pack(result, terms, 'a'))).toBeDefined()
})
