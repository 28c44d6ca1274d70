import { readdirSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService } from '../../integration/service/harness.ts'
import {
  type Answer,
  type HttpUpstream,
  json,
  legacyServer,
  notification,
  result,
  startHttpUpstream,
  stream,
} from '../../support/mcp/http-upstream.ts'

/**
 * What hostile and careless MCP servers do. Whatever it is, the service lives, and the tools of the
 * server beside it are there and work.
 */

const MIB = 1024 * 1024

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
const listed = (...tools: object[]) => JSON.stringify({ tools })
const OK = JSON.stringify({ content: [{ type: 'text', text: 'ok' }] })
const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`

/** One byte a chunk, as many at a time as the connection takes. */
async function bytewise(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at++) {
    if (!response.write(bytes.subarray(at, at + 1))) {
      await new Promise(resolve => response.once('drain', resolve))
    }
  }
  response.end()
}

type Attack = (response: ServerResponse, arrived: Parameters<Answer>[1]) => unknown

/** By the name of the tool that is called, or of the method. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  'a body in chunks of one byte'(response, { id }) {
    response.writeHead(200, { 'content-type': 'application/json' })
    const text = 'x'.repeat(MIB)
    void bytewise(
      response,
      Buffer.from(result(id, JSON.stringify({ content: [{ type: 'text', text }] }))),
    )
  },
  'an event in chunks of one byte'(response, { id }) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const text = 'x'.repeat(MIB)
    const message = result(id, JSON.stringify({ content: [{ type: 'text', text }] }))
    void bytewise(response, Buffer.from(`data: ${message}\n\n`))
  },
  'an event in lines of one byte'(response) {
    stream(response, 'data: x\n'.repeat(MIB))
    response.end('\n')
  },
  'a flood of pings'(response, { id }) {
    stream(response, Array.from({ length: 20_000 }, (_, n) => `data: ${ping(n)}\n\n`).join(''))
    response.end(`data: ${result(id, OK)}\n\n`)
  },
  'a flood of logs'(response, { id }) {
    const log = notification('notifications/message', '{"level":"info","data":"x"}')
    stream(response, `data: ${log}\n\n`.repeat(15_000))
    response.end(`data: ${result(id, OK)}\n\n`)
  },
  'a flood of questions'(response) {
    const ask = (n: number) =>
      `{"jsonrpc":"2.0","id":"q${n}","method":"sampling/createMessage","params":{}}`
    stream(response, Array.from({ length: 25_000 }, (_, n) => `data: ${ask(n)}\n\n`).join(''))
  },
  'deep nesting'(response, { id }) {
    json(response, result(id, `{"content":${'['.repeat(500_000)}${']'.repeat(500_000)}}`))
  },
  'half a message'(response, { id }) {
    json(response, result(id, OK).slice(0, -5))
  },
  'a connection that is cut'(response) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{')
    response.destroy()
  },
  'a list of empty objects of PHP'(response, { id }) {
    json(response, result(id, '[]'))
  },
  'a member twice'(response, { id }) {
    json(response, result(id, '{"content":[],"content":[]}'))
  },
}

/** What `tools/list` may be answered with; `good` is a tool that must be there. */
const LISTS: Readonly<Record<string, (cursor: string | undefined) => string>> = {
  'a malformed tool': () =>
    listed(
      tool('good'),
      { name: 'bad', inputSchema: { type: 'object', properties: [] } },
      { name: 'worse', description: null, inputSchema: 'x' },
    ),
  'the same cursor again and again': () =>
    JSON.stringify({ tools: [tool('good')], nextCursor: '' }),
  'cursors in a circle': cursor =>
    JSON.stringify({ tools: [tool('good')], nextCursor: cursor === 'a' ? 'b' : 'a' }),
  'pages without end': cursor =>
    JSON.stringify({ tools: [tool('good')], nextCursor: `${Number(cursor ?? 0) + 1}` }),
  'large pages without end': cursor =>
    JSON.stringify({
      tools: [tool('good'), { ...tool(`t${cursor}`), description: 'x'.repeat(MIB) }],
      nextCursor: `${Number(cursor ?? 0) + 1}`,
    }),
  'more tools than there may be': () =>
    listed(tool('good'), ...Array.from({ length: 30_000 }, (_, n) => tool(`t${n}`))),
}

let hostile: HttpUpstream
let good: HttpUpstream
let service: Awaited<ReturnType<typeof startTestService>>
/** A session that is answered with this status from now on; 0: none is. */
const forgotten: { status: number; session: unknown } = { status: 0, session: null }
const list = listed(...[...Object.keys(ATTACKS), 'plain'].map(tool))
let cursorList: ((cursor: string | undefined) => string) | null = null

beforeAll(async () => {
  hostile = await startHttpUpstream(
    legacyServer((response, arrived) => {
      const { rpcMethod, id, body, headers } = arrived
      if (rpcMethod === 'tools/call') forgotten.session ??= headers['mcp-session-id']
      if (forgotten.status > 0 && forgotten.session === headers['mcp-session-id']) {
        response.writeHead(forgotten.status).end('gone')
      } else if (id === undefined || rpcMethod === undefined) response.writeHead(202).end()
      else if (rpcMethod === 'tools/list') {
        const { cursor } = JSON.parse(body).params
        json(response, result(id, cursorList?.(cursor) ?? list))
      } else if (rpcMethod === 'ping') json(response, result(id, '{}'))
      else {
        const { name } = JSON.parse(body).params
        const attack = ATTACKS[name]
        if (attack === undefined) json(response, result(id, OK))
        else attack(response, arrived)
      }
    }),
  )
  good = await startHttpUpstream(
    legacyServer((response, { id, rpcMethod }) =>
      json(response, result(id, rpcMethod === 'tools/list' ? listed(tool('fine')) : OK)),
    ),
  )
  service = await startTestService({
    mcp: {
      servers: { hostile: { url: hostile.url }, good: { url: good.url } },
      // Clients see the lists themselves.
      search: { mode: 'never' },
    },
  })
})
afterAll(async () => {
  await service.close()
  await Promise.all([hostile.close(), good.close()])
})

async function connected(url = service.url): Promise<Client> {
  const client = new Client({ name: 'tester', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`))
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

const descriptors = () => readdirSync('/proc/self/fd').length

describe('a server that answers a call with', () => {
  it.each(Object.keys(ATTACKS))('%s', async name => {
    const client = await connected()
    const { tools } = await client.listTools()
    const attack = tools.find(
      each => each.description === name || each.name.includes(publicPart(name)),
    )
    const before = descriptors()
    let most = 0
    const watching = setInterval(() => {
      most = Math.max(most, descriptors() - before)
    }, 5)
    const called = client
      .callTool({ name: attack?.name ?? `hostile__${name}`, arguments: {} })
      .catch(() => 'refused')
    const alive = await fetch(`${service.url}/livez`)
    expect(alive.status).toBe(200)
    const other = await client.callTool({ name: 'good__fine', arguments: {} })
    expect(other.content).toEqual([{ type: 'text', text: 'ok' }])
    await called
    clearInterval(watching)
    // The test's own server has the other ends.
    expect(most).toBeLessThan(100)
    await client.close()
  })
})

/** Names are spelt in few characters for clients. */
function publicPart(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 20)
}

describe('a server that lists', () => {
  it.each(Object.entries(LISTS))('%s', async (_, pages) => {
    cursorList = pages
    try {
      const client = await connected()
      const names: string[] = []
      let cursor: string | undefined
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor })
        names.push(...page.tools.map(({ name }) => name))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(names).toContain('good__fine')
      expect(names.filter(name => name === 'hostile__good')).toHaveLength(1)
      const other = await client.callTool({ name: 'good__fine', arguments: {} })
      expect(other.content).toEqual([{ type: 'text', text: 'ok' }])
      await client.close()
    } finally {
      cursorList = null
    }
  })
})

/** Prompts and resources of which the protocol refuses some. */
const REFUSED: Readonly<Record<string, string>> = {
  'prompts/list': JSON.stringify({
    prompts: [
      { name: 'kept' },
      { name: 'mended', arguments: {} },
      { description: 'has no name' },
      { name: 'bad', arguments: [{ name: 7 }] },
    ],
  }),
  'resources/list': JSON.stringify({
    resources: [{ uri: 'file:///kept', name: 'kept' }, { uri: 7, name: 'bad' }, { name: 'worse' }],
  }),
  'resources/templates/list': JSON.stringify({
    resourceTemplates: [{ uriTemplate: 'file:///{x}', name: 'kept' }, { name: null }],
  }),
}

it('a server whose prompts and resources the protocol refuses hides those of no other', async () => {
  const kept: Readonly<Record<string, string>> = {
    'prompts/list': '{"prompts":[{"name":"fine"}]}',
    'resources/list': '{"resources":[{"uri":"file:///fine","name":"fine"}]}',
    'resources/templates/list': '{"resourceTemplates":[]}',
  }
  const capabilities = '{"tools":{},"prompts":{},"resources":{}}'
  const serverOf = (lists: Readonly<Record<string, string>>) =>
    startHttpUpstream(
      legacyServer((response, { id, rpcMethod = '' }) => {
        json(response, result(id, lists[rpcMethod] ?? listed(tool('x'))))
      }, capabilities),
    )
  const [refused, fine] = await Promise.all([serverOf(REFUSED), serverOf(kept)])
  const own = await startTestService({
    mcp: { servers: { refused: { url: refused.url }, fine: { url: fine.url } } },
  })
  const client = await connected(own.url)
  const { prompts } = await client.listPrompts()
  const { resources } = await client.listResources()
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(prompts.map(({ name }) => name).sort()).toEqual(
    expect.arrayContaining(['fine__fine', 'refused__kept']),
  )
  expect(prompts.map(({ name }) => name)).not.toContain('refused__bad')
  expect(resources.map(({ name }) => name).sort()).toEqual(['fine', 'kept'])
  expect(resourceTemplates.map(({ name }) => name)).toEqual(['kept'])
  await client.close()
  await own.close()
  await Promise.all([refused.close(), fine.close()])
})

describe('a server that has lost its session', () => {
  it.each([400, 403, 404, 409, 500, 502, 503])(
    'and says %i, answers the next call',
    async status => {
      const client = await connected()
      const call = () => client.callTool({ name: 'hostile__plain', arguments: {} })
      const first = await call()
      expect(first.content).toEqual([{ type: 'text', text: 'ok' }])
      // The session of that call is the one that is lost.
      Object.assign(forgotten, { status, session: null })
      try {
        await call().catch(() => 'lost')
        const next = await call()
        expect(next.content).toEqual([{ type: 'text', text: 'ok' }])
      } finally {
        forgotten.status = 0
      }
      await client.close()
    },
  )
})
