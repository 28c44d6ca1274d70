import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Service } from '../../../src/service/service.ts'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { type FixtureProcess, startFixture } from '../../support/mcp/fixture-process.ts'
import { startGatewayService } from '../../support/mcp/gateway-service.ts'

const CLI = new URL('../../../src/cli.ts', import.meta.url).pathname
const INFO = { name: 'haversack-test-client', version: '1' }
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} }
const FORM = { action: 'accept', content: { name: 'Alice', color: 'blue', context: 'x' } } as const
const TEXT = { type: 'text', text: 'Paris' } as const
const MESSAGE = { role: 'assistant', model: 'm', content: TEXT } as const

const folder = mkdtempSync(join(tmpdir(), 'haversack-bridge-'))
const key = keyFor('team', { scopes: ['mcp'] })
let fixture: FixtureProcess
let service: Service
const startAt = (port: number) =>
  startGatewayService({ one: { url: fixture.url } }, { port, keys_file: join(folder, 'keys.json') })
beforeAll(async () => {
  writeKeysFile(join(folder, 'keys.json'), key)
  writeFileSync(join(folder, 'key'), `${key.key}\n`)
  fixture = await startFixture('both')
  service = await startAt(0)
})
afterAll(async () => {
  await service.close()
  await fixture.close()
  rmSync(folder, { recursive: true })
})

const command = (...options: string[]) => ({
  command: process.execPath,
  args: [CLI, 'mcp', '--service', service.url, ...options],
  stderr: 'ignore' as const,
})
const byFile = () => command('--key-file', join(folder, 'key'))

const text = (answer: unknown) =>
  (answer as { content: { text: string }[] }).content.map(each => each.text).join()

describe('haversack mcp --service', () => {
  it('serves a client of SDK 1, with what servers ask of it', async () => {
    const client = new ClientV1(INFO, { capabilities: CAPABILITIES })
    client.setRequestHandler(ElicitRequestSchema, () => FORM)
    client.setRequestHandler(CreateMessageRequestSchema, () => MESSAGE)
    const transport = new StdioV1({ ...command(), env: { HAVERSACK_KEY: key.key } })
    // The types of this SDK do not allow for exact optional properties.
    await client.connect(transport as Parameters<typeof client.connect>[0])
    expect((await client.listTools()).tools.length).toBeGreaterThan(20)
    const progress: number[] = []
    await client.callTool({ name: 'test_tool_with_progress' }, undefined, {
      onprogress: ({ progress: at }) => void progress.push(at),
    })
    expect(progress).toEqual([0, 50, 100])
    const sampled = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'x' } })
    expect(text(sampled)).toContain('Paris')
    const asked = await client.callTool({ name: 'test_elicitation', arguments: { message: 'x' } })
    expect(text(asked)).toContain('accept')
    await client.close()
  })

  it.each(['auto', 'legacy'] as const)('serves a client of SDK 2, %s', async mode => {
    const sdk = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } })
    sdk.setRequestHandler('elicitation/create', () => FORM)
    sdk.setRequestHandler('sampling/createMessage', () => MESSAGE)
    sdk.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home' }] }))
    await sdk.connect(new StdioClientTransport(byFile()))
    expect(sdk.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
    expect((await sdk.listTools()).tools.length).toBeGreaterThan(20)
    const progress: number[] = []
    const call = { name: 'test_tool_with_progress' }
    await sdk.callTool(call, { onprogress: ({ progress: at }) => void progress.push(at) })
    expect(progress).toEqual([0, 50, 100])
    const stop = new AbortController()
    const options = { signal: stop.signal, onprogress: () => stop.abort() }
    await expect(sdk.callTool(call, options)).rejects.toThrow()
    const changes: string[] = []
    sdk.setNotificationHandler('notifications/tools/list_changed', () => void changes.push('tools'))
    if (mode === 'auto') {
      const all = await sdk.callTool({ name: 'test_input_required_result_multiple_inputs' })
      expect(text(all)).toBe('All was given.')
      await sdk.listen({ toolsListChanged: true })
    }
    await sdk.callTool({ name: 'test_trigger_tool_change' })
    await eventually(() => expect(changes).toContain('tools'))
    await sdk.close()
  })

  it.each(['auto', 'legacy'] as const)('outlives its service for a client, %s', async mode => {
    const sdk = new Client(INFO, { versionNegotiation: { mode } })
    await sdk.connect(new StdioClientTransport(byFile()))
    const call = { name: 'test_simple_text' }
    expect(text(await sdk.callTool(call))).not.toBe('')
    const { port } = new URL(service.url)
    await service.close()
    expect(text(await sdk.callTool(call))).toContain('does not answer')
    service = await startAt(Number(port))
    expect(text(await sdk.callTool(call))).toContain('simple')
    await sdk.close()
  })

  it('ends its session at an error that nothing caught, and fails', async () => {
    const planting =
      'data:text/javascript,process.on("SIGUSR2",()=>setImmediate(()=>{throw new Error("planted")}))'
    const { args } = byFile()
    const child = spawn(process.execPath, ['--import', planting, ...args])
    const exit = once(child, 'exit')
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO }
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    child.stdin.write(`${JSON.stringify(initialize)}\n`)
    await once(child.stdout, 'data')
    child.kill('SIGUSR2')
    const log = await readText(child.stderr)
    expect(await exit).toEqual([1, null])
    expect(log).toContain('planted')
  })

  it('says why the service refuses it', async () => {
    const sdk = new Client(INFO, { versionNegotiation: { mode: 'legacy' } })
    const transport = new StdioClientTransport({ ...command(), env: { HAVERSACK_KEY: 'hsk_no' } })
    await expect(sdk.connect(transport)).rejects.toThrow(/401/)
    await sdk.close()
  })
})
