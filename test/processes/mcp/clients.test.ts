import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type FixtureProcess,
  fixtureCommand,
  startFixture,
} from '../../support/mcp/fixture-process.ts'
import { npmServerCommand } from '../../support/mcp/npm-servers.ts'

const INFO = { name: 'haversack-test-client', version: '1.0.0' }
const ANSWER = { action: 'accept' as const, content: { name: 'Alice' } }
const ASKS = { name: 'test_input_required_result_elicitation' }
const GREETING = { content: [{ type: 'text', text: 'Hello, Alice!' }] }

let fixture: FixtureProcess
beforeAll(async () => {
  fixture = await startFixture()
})
afterAll(() => fixture.close())

const overHttp = () => new StreamableHTTPClientTransport(new URL(fixture.url))
const overStdio = () => new StdioClientTransport(fixtureCommand())

describe.each([
  ['HTTP', overHttp],
  ['stdio', overStdio],
])('the fixture over %s', (_, transport) => {
  test.each([
    ['auto', 'modern'],
    ['legacy', 'legacy'],
  ] as const)('answers a client of SDK 2 in mode %s', async (mode, era) => {
    await using client = await connect(transport(), mode)
    expect(client.sdk.getProtocolEra()).toBe(era)
    const { tools } = await client.sdk.listTools()
    expect(tools.map(({ name }) => name)).toContain('test_simple_text')
    expect(await client.sdk.callTool(ASKS)).toMatchObject(GREETING)
  })
})

describe('the fixture', () => {
  test.each([
    ['HTTP', () => new HttpClientTransportV1(new URL(fixture.url))],
    ['stdio', () => new StdioClientTransportV1(fixtureCommand())],
  ])('answers a client of SDK 1 over %s', async (_, transport) => {
    const client = new ClientV1(INFO, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, () => ANSWER)
    // The types of this SDK do not allow for exact optional properties.
    await client.connect(transport() as Parameters<typeof client.connect>[0])
    try {
      expect(client.getServerVersion()?.name).toBe('haversack-test-fixture')
      expect(await client.callTool(ASKS)).toMatchObject(GREETING)
    } finally {
      await client.close()
    }
  })

  test.each(['legacy', 'modern'] as const)('serves only clients that are %s', async eras => {
    const transport = () => new StdioClientTransport(fixtureCommand(eras))
    await using client = await connect(transport(), 'auto')
    expect(client.sdk.getProtocolEra()).toBe(eras)
    if (eras === 'modern') await expect(connect(transport(), 'legacy')).rejects.toThrow()
  })
})

describe('a server of others', () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-mcp-'))
  writeFileSync(join(folder, 'a.txt'), 'a file')
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each([
    ['everything', 'echo', { message: 'hi' }, 'hi'],
    ['filesystem', 'read_text_file', { path: join(folder, 'a.txt') }, 'a file'],
    ['memory', 'read_graph', {}, 'entities'],
  ] as const)('%s answers', async (name, tool, args, expected) => {
    const env = { ...process.env, MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }
    const command = npmServerCommand(name, ...(name === 'filesystem' ? [folder] : []))
    const transport = new StdioClientTransport({ ...command, env, stderr: 'ignore' })
    await using client = await connect(transport, 'auto')
    expect(client.sdk.getProtocolEra()).toBe('legacy')
    const result = await client.sdk.callTool({ name: tool, arguments: args })
    expect(JSON.stringify(result.content)).toContain(expected)
  })
})

async function connect(transport: Transport, mode: 'auto' | 'legacy') {
  const capabilities = { elicitation: {} }
  const sdk = new Client(INFO, { capabilities, versionNegotiation: { mode } })
  sdk.setRequestHandler('elicitation/create', () => ANSWER)
  await sdk.connect(transport)
  return { sdk, [Symbol.asyncDispose]: () => sdk.close() }
}
