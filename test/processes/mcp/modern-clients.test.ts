import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { type FixtureProcess, startFixture } from '../../support/mcp/fixture-process.ts'
import type { FrontServer } from '../../support/mcp/front-server.ts'
import { type GatewayHost, startGatewayHost } from '../../support/mcp/modern-gateway.ts'

const CLI = new URL('../../../src/cli.ts', import.meta.url).pathname
const WATCHED = 'test://watched-resource'
const ERAS = ['modern', 'legacy'] as const

const folder = mkdtempSync(join(tmpdir(), 'haversack-clients-'))
const fixtures = new Map<string, FixtureProcess>()
const servers = new Map<string, FrontServer>()
let host: GatewayHost
beforeAll(async () => {
  host = await startGatewayHost()
  for (const era of ERAS) {
    const fixture = await startFixture(era)
    fixtures.set(era, fixture)
    servers.set(era, await host.serve({ one: { url: fixture.url } }))
    writeFileSync(join(folder, `${era}.toml`), `[mcp.servers.one]\nurl = "${fixture.url}"\n`)
  }
})
afterAll(async () => {
  for (const server of servers.values()) await server.close()
  for (const fixture of fixtures.values()) await fixture.close()
  await host.close()
  rmSync(folder, { recursive: true })
})

const overHttp = (era: string) =>
  new StreamableHTTPClientTransport(new URL((servers.get(era) as FrontServer).url))
const overStdio = (era: string) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', '--config', join(folder, `${era}.toml`), '--data-dir', join(folder, era)],
    stderr: 'ignore',
  })

async function connect(transport: Transport) {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} }
  const info = { name: 'haversack-test-client', version: '1' }
  const sdk = new Client(info, { capabilities, versionNegotiation: { mode: 'auto' } })
  const asked: string[] = []
  sdk.setRequestHandler('elicitation/create', () => {
    asked.push('elicitation')
    return { action: 'accept', content: { name: 'Alice', color: 'blue', context: 'tests' } }
  })
  sdk.setRequestHandler('sampling/createMessage', () => {
    asked.push('sampling')
    return { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' } }
  })
  sdk.setRequestHandler('roots/list', () => {
    asked.push('roots')
    return { roots: [{ uri: 'file:///home' }] }
  })
  await sdk.connect(transport)
  return { sdk, asked, [Symbol.asyncDispose]: () => sdk.close() }
}

const text = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(each => each.text).join()

describe.each(
  ERAS.flatMap(era => [
    { era, way: 'HTTP', open: overHttp },
    { era, way: 'stdio', open: overStdio },
  ]),
)('the client of SDK 2 over $way, before a $era server', ({ era, open }) => {
  it('is served as a client of 2026-07-28', async () => {
    await using client = await connect(open(era))
    const { sdk, asked } = client
    expect(sdk.getProtocolEra()).toBe('modern')
    expect(sdk.getServerVersion()?.name).toBe('haversack')
    expect((await sdk.listTools()).tools.length).toBeGreaterThan(20)

    const all = await sdk.callTool({ name: 'test_input_required_result_multiple_inputs' })
    expect(text(all)).toBe('All was given.')
    expect(asked.sort()).toEqual(['elicitation', 'roots', 'sampling'])
    const rounds = await sdk.callTool({ name: 'test_input_required_result_multi_round' })
    expect(text(rounds)).toBe('Your color is blue.')
    const prompt = await sdk.getPrompt({ name: 'test_input_required_result_prompt' })
    expect(prompt.messages.length).toBeGreaterThan(0)

    const progress: number[] = []
    await sdk.callTool(
      { name: 'test_tool_with_progress' },
      { onprogress: ({ progress: at }) => void progress.push(at) },
    )
    expect(progress).toEqual([0, 50, 100])

    const stop = new AbortController()
    const cancelled = sdk.callTool(
      { name: 'test_tool_with_progress' },
      { signal: stop.signal, onprogress: () => stop.abort() },
    )
    await expect(cancelled).rejects.toThrow()

    const changes: string[] = []
    sdk.setNotificationHandler('notifications/tools/list_changed', () => void changes.push('tools'))
    sdk.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void changes.push(params.uri),
    )
    const lists = await sdk.listen({ toolsListChanged: true })
    const watched = await sdk.listen({ resourceSubscriptions: [WATCHED] })
    expect(watched.honoredFilter).toEqual({ resourceSubscriptions: [WATCHED] })
    await sdk.callTool({ name: 'test_trigger_resource_update' })
    await eventually(() => expect(changes).toEqual([WATCHED]))
    await sdk.callTool({ name: 'test_trigger_tool_change' })
    await eventually(() => expect(changes).toEqual([WATCHED, 'tools']))
    await watched.close()
    await lists.close()
    expect(text(await sdk.callTool({ name: 'test_simple_text' }))).not.toBe('')
  })
})
