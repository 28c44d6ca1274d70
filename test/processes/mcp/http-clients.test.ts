import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Service } from '../../../src/service/service.ts'
import { startGatewayService } from '../../support/mcp/gateway-service.ts'
import { npmServerCommand } from '../../support/mcp/npm-servers.ts'

const INFO = { name: 'haversack-test-client', version: '1.0.0' }

const folder = mkdtempSync(join(tmpdir(), 'haversack-http-clients-'))
let service: Service
beforeAll(async () => {
  writeFileSync(join(folder, 'a.txt'), 'a file')
  service = await startGatewayService({
    everything: npmServerCommand('everything'),
    filesystem: npmServerCommand('filesystem', folder),
    memory: {
      ...npmServerCommand('memory'),
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    },
  })
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const url = () => new URL(`${service.url}/mcp`)

/** What both SDKs have. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>
  close(): Promise<void>
}

const CLIENTS: readonly (readonly [string, () => Promise<AnyClient>])[] = [
  [
    '1',
    async () => {
      const client = new ClientV1(INFO)
      const transport = new HttpClientTransportV1(url())
      // The types of this SDK do not allow for exact optional properties.
      await client.connect(transport as Parameters<typeof client.connect>[0])
      return client as unknown as AnyClient
    },
  ],
  [
    '2',
    async () => {
      const client = new Client(INFO, { versionNegotiation: { mode: 'legacy' } })
      await client.connect(new StreamableHTTPClientTransport(url()))
      return client as unknown as AnyClient
    },
  ],
]

describe.each(CLIENTS)('a client of SDK %s over HTTP', (_, connect) => {
  test('calls the tools of three servers', async () => {
    const client = await connect()
    try {
      const { tools } = await client.listTools()
      const names = tools.map(({ name }) => name)
      const calls = [
        ['everything__echo', { message: 'hi' }, 'hi'],
        ['filesystem__read_text_file', { path: join(folder, 'a.txt') }, 'a file'],
        ['memory__read_graph', {}, 'entities'],
      ] as const
      for (const [name, args, expected] of calls) {
        expect(names).toContain(name)
        expect(JSON.stringify(await client.callTool({ name, arguments: args }))).toContain(expected)
      }
    } finally {
      await client.close()
    }
  })
})
