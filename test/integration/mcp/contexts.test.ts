import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { noteCompaction } from '../../../src/mcp/client/contexts/compactions.ts'
import type { EmbeddedService } from '../../../src/service/embedded/embedded.ts'
import { eventually } from '../../support/eventually.ts'
import { connectLines, type LineClientOptions } from '../../support/mcp/line-client.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'
import { startSmallEmbedded } from '../../support/small-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-contexts-'))
const base = { data_dir: folder, workers: { count: 1 }, limits: { drain_grace_ms: 0 } }
let service: EmbeddedService
beforeAll(async () => {
  service = await startSmallEmbedded(configSchema.parse(base))
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const page = (name: string, count = 60) =>
  Array.from({ length: count }, (_, i) => `line ${i} of ${name} has ${i * 7919};`).join('\n')
const resultOf = (text: string) => `{"content":[{"type":"text","text":${JSON.stringify(text)}}]}`

/** A gateway whose server answers with the page that a call names. */
async function connect(options: Partial<LineClientOptions> & { settings?: object } = {}) {
  const upstream = await RecordingUpstream.start({ era: 'legacy' })
  onTestFinished(() => upstream.close())
  upstream.on('tools/call', exchange => {
    const name = /"page":"([^"]*)"/.exec(exchange.call.bytes.toString())?.[1] ?? ''
    if (name === 'hang') return
    exchange.result(resultOf(page(name)))
  })
  const { settings = {}, ...rest } = options
  const servers = { one: { url: upstream.url, ...settings } }
  const client = await connectLines({ service, base, servers, ...rest })
  const call = async (name: string, context?: string) => {
    const _meta = context === undefined ? {} : { _meta: { 'haversack/context': context } }
    const params = { name: 'echo', arguments: { page: name }, ..._meta }
    return (await client.request('tools/call', params)).result.content[0].text as string
  }
  return { ...client, call, upstream }
}

const REFERENCE = /^> \[ref ([0-9a-f]+) mcp__one__echo (\d+) calls? ago\]$/

describe('a context', () => {
  it('is referred to what it was sent, at the distance that its reader counts', async () => {
    const { call } = await connect()
    expect(await call('a', 'near')).toBe(page('a'))
    expect(REFERENCE.exec(await call('a', 'near'))?.[2]).toBe('1')
    await call('b', 'near')
    await call('c', 'near')
    expect(REFERENCE.exec(await call('a', 'near'))?.[2]).toBe('4')
  })

  it('is told apart from others, and from none', async () => {
    const { call } = await connect()
    await call('a', 'first')
    expect(await call('a', 'second')).toBe(page('a'))
    expect(await call('a')).toBe(page('a'))
    expect(await call('a', 'first')).toMatch(REFERENCE)
  })

  it('is the connection if its operator states that', async () => {
    const { call } = await connect({ context: 'connection 1' })
    await call('a')
    expect(await call('a')).toMatch(REFERENCE)
  })

  it('counts calls in the order in which they came, and calls that failed too', async () => {
    const { request, call, begin, send, answerTo } = await connect()
    await call('a', 'order')
    const _meta = { 'haversack/context': 'order' }
    await request('tools/call', { name: 'unknown', arguments: {}, _meta })
    const hung = begin('tools/call', { name: 'echo', arguments: { page: 'hang' }, _meta })
    expect(REFERENCE.exec(await call('a', 'order'))?.[2]).toBe('3')
    send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${hung}}}`)
    await answerTo(begin('ping'))
  })

  it('is not referred to an answer that it was not sent', async () => {
    const { upstream, begin, send, call, request } = await connect()
    let answer = () => {}
    upstream.on('tools/call', exchange => {
      const text = resultOf(page('late'))
      if (exchange.call.bytes.toString().includes('"page":"late-1"')) {
        answer = () => exchange.result(text)
      } else exchange.result(text)
    })
    const _meta = { 'haversack/context': 'unsent' }
    const id = begin('tools/call', { name: 'echo', arguments: { page: 'late-1' }, _meta })
    await eventually(() => expect(upstream.callsOf('tools/call')).toHaveLength(1))
    send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`)
    answer()
    await request('ping')
    expect(await call('late-2', 'unsent')).toBe(page('late'))
    expect(await call('late-3', 'unsent')).toMatch(REFERENCE)
  })

  it.each(['notifications/compacted', 'notifications/haversack/compacted'])(
    'ends when its client reports its compaction by %s, or that of all',
    async method => {
      const { call, send, upstream } = await connect()
      for (const named of [{ _meta: { 'haversack/context': 'told' } }, {}]) {
        await call('a', 'told')
        expect(await call('a', 'told')).toMatch(REFERENCE)
        send(JSON.stringify({ jsonrpc: '2.0', method, params: named }))
        expect(await call('a', 'told')).toBe(page('a'))
      }
      expect(upstream.callsOf(method)).toEqual([])
    },
  )

  it('ends when its host calls the tool for that, which is not listed', async () => {
    const { call, request } = await connect()
    const { result } = await request('tools/list', {})
    expect(JSON.stringify(result)).not.toContain('haversack_compacted')
    for (const named of [{ _meta: { 'haversack/context': 'host' } }, {}]) {
      await call('a', 'host')
      expect(await call('a', 'host')).toMatch(REFERENCE)
      const answer = await request('tools/call', { name: 'haversack_compacted', ...named })
      expect(answer.result.content[0].text).toContain('Noted')
      expect(await call('a', 'host')).toBe(page('a'))
    }
  })

  it('ends when a hook reports its compaction, or that of all', async () => {
    const { call } = await connect()
    for (const compacted of ['hooked', null]) {
      await call('a', 'hooked')
      expect(await call('a', 'hooked')).toMatch(REFERENCE)
      noteCompaction(folder, compacted, Date.now())
      expect(await call('a', 'hooked')).toBe(page('a'))
    }
    noteCompaction(folder, 'another', Date.now())
    expect(await call('a', 'hooked')).toMatch(REFERENCE)
  })

  it('has lost a text that it retrieves, and is not referred to it again', async () => {
    const { call, request } = await connect()
    await call('a', 'loser')
    const hash = REFERENCE.exec(await call('a', 'loser'))?.[1]
    const _meta = { 'haversack/context': 'loser' }
    const retrieve = (args: object, meta: object = { _meta }) =>
      request('tools/call', { name: 'haversack_retrieve', arguments: args, ...meta })
    const foreign = await retrieve({ hash }, { _meta: { 'haversack/context': 'foreign' } })
    expect(foreign.result.isError).toBe(true)
    expect(await call('a', 'loser')).toMatch(REFERENCE)
    const { result } = await retrieve({ hash, lines: '1-2' })
    expect(result.content[0].text).toBe(`${page('a').split('\n').slice(0, 2).join('\n')}\n`)
    expect(await call('a', 'loser')).toBe(page('a'))
  })
})

describe('the tool for originals is offered', () => {
  const names = async ({ request }: Awaited<ReturnType<typeof connect>>, params = {}) => {
    const { result } = await request('tools/list', params)
    return result.tools.map((tool: { name: string }) => tool.name)
  }

  it('where anything may be referred to or left out', async () => {
    expect(await names(await connect())).toEqual(['echo'])
    const context = { _meta: { 'haversack/context': 'x' } }
    expect(await names(await connect(), context)).toContain('haversack_retrieve')
    for (const name of ['claude-code', 'Visual Studio Code', 'codex-mcp-client']) {
      const client = await connect({ clientInfo: { name, version: '1' } })
      expect(await names(client)).toContain('haversack_retrieve')
    }
    const eliding = await connect({ settings: { mode: 'elide' } })
    expect(await names(eliding)).toContain('haversack_retrieve')
  })
})

describe('results of one server', () => {
  it('are trimmed to what Claude Code shows, marked and retrievable', async () => {
    const long = page('long', 4000)
    const short = page('short', 1000)
    const clientInfo = { name: 'claude-code', version: '2.1.0' }
    for (const [info, isTrimmed] of [
      [clientInfo, true],
      [undefined, false],
    ] as const) {
      const { upstream, request } = await connect(info === undefined ? {} : { clientInfo: info })
      let text = short
      upstream.on('tools/call', exchange => exchange.result(resultOf(text)))
      const shown = async () => {
        const { result } = await request('tools/call', { name: 'echo', arguments: {} })
        return result.content[0].text as string
      }
      expect(await shown()).not.toContain(' not shown | ')
      text = long
      const sent = await shown()
      expect(sent.length < long.length * 0.7).toBe(isTrimmed)
      if (!isTrimmed) continue
      const hash = /hash=([0-9a-f]+)/.exec(sent)?.[1]
      const args = { hash, lines: '3001-3002' }
      const part = await request('tools/call', { name: 'haversack_retrieve', arguments: args })
      expect(part.result.content[0].text).toBe(`${long.split('\n').slice(3000, 3002).join('\n')}\n`)
    }
  })

  it('are elided in the mode of their server', async () => {
    const { call } = await connect({ settings: { mode: 'elide', budget_tokens: 100 } })
    expect(await call('a')).toContain(' not shown | ')
  })

  it('include resources if they are configured to', async () => {
    const rows = JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id, name: `item ${id}` })))
    for (const resources of [true, false]) {
      const { upstream, request } = await connect({ settings: { resources } })
      upstream.on('resources/read', exchange =>
        exchange.result(
          `{"contents":[{"uri":"ui://x","text":${JSON.stringify(rows)}},` +
            `{"uri":"test://rows","text":${JSON.stringify(rows)}}]}`,
        ),
      )
      const { result } = await request('resources/read', { uri: 'test://rows' })
      expect(result.contents[0].text).toBe(rows)
      expect(result.contents[1].text.length < rows.length).toBe(resources)
    }
  })
})
