import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { SavingsAnswer } from '../../../src/core/contract/savings.ts'
import { refusalOf, type SearchedBody } from '../../support/searching-vendor.ts'
import { startSmallService } from '../service/harness.ts'

const PATH = '/anthropic/v1/messages'
const TEXT = 'It does something that takes many words to tell. '.repeat(120)
const TOOLS = ['bash', 'read', 'task', 'fetch'].map(name => ({
  ...{ name, description: `${name}. ${TEXT}`, input_schema: { type: 'object' } },
}))

/** A vendor that refuses what Anthropic refuses, and more if it is told to. */
async function world(refuses: (body: SearchedBody) => string | null = refusalOf) {
  const bodies: string[] = []
  const server = createServer(async (incoming, outgoing) => {
    const text = (await buffer(incoming)).toString()
    bodies.push(text)
    const message = refuses(JSON.parse(text))
    const usage = { input_tokens: 100, cache_read_input_tokens: 20_000, output_tokens: 10 }
    const model = 'claude-sonnet-4-5'
    outgoing.writeHead(message === null ? 200 : 400, { 'content-type': 'application/json' })
    outgoing.end(
      JSON.stringify(
        message === null
          ? { type: 'message', model, content: [], usage }
          : { type: 'error', error: { type: 'invalid_request_error', message } },
      ),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = mkdtempSync(join(tmpdir(), 'haversack-defer-'))
  const pipeline_config_file = join(folder, 'pipeline.toml')
  const sections = `[cache_align]\ndefer = true\n[cache_life]\nhosts = ["${host}"]\n`
  writeFileSync(pipeline_config_file, sections)
  const proxy = { anthropic_url: `http://${host}` }
  const settings = { pipeline_config_file, data_dir: folder, workers: { count: 1 }, proxy }
  let service = await startSmallService(settings)
  onTestFinished(async () => {
    await service.close()
    server.close()
    rmSync(folder, { recursive: true })
  })

  let answered = 0

  async function send(name: string, turns: readonly object[] = []) {
    const messages = [{ role: 'user', content: `Go ${name}.` }, ...turns]
    const body = { model: 'claude-sonnet-4-5', system: 'Be good.', tools: TOOLS, messages }
    const before = bodies.length
    const { status } = await service.post(PATH, JSON.stringify(body))
    const sent = bodies.slice(before)
    if (status === 200) answered++
    return { status, sent, own: JSON.stringify(body) }
  }

  return {
    send,
    /** So many conversations that call `bash` and `read`, known to those that come after it. */
    async learn(conversations: number) {
      for (let i = 0; i < conversations; i++) await send(`past ${i}`, called('bash', 'read'))
      await vi.waitFor(async () => expect(await counted()).toBe(answered))
      await restart()
    },
    restart,
    savings,
  }

  async function restart() {
    await service.close()
    service = await startSmallService(settings)
  }

  async function counted() {
    return (await savings()).vendors.anthropic?.requests
  }

  async function savings() {
    return (await (await fetch(`${service.url}/v1/savings`)).json()) as SavingsAnswer
  }
}

const called = (...names: string[]) => [
  {
    role: 'assistant',
    content: names.map((name, i) => ({ type: 'tool_use', id: `t${i}`, name, input: {} })),
  },
  {
    role: 'user',
    content: names.map((_, i) => ({ type: 'tool_result', tool_use_id: `t${i}`, content: 'ok' })),
  },
]
const found = (name: string) => ({
  type: 'tool_search_tool_result',
  tool_use_id: 's1',
  content: { tool_references: [{ type: 'tool_reference', tool_name: name }] },
})
const head = (text: string | undefined) => text?.slice(0, text.indexOf('"messages"'))
const isDeferred = (text: string | undefined) => text?.includes('"defer_loading":true') === true

it('tools wait from the sixth conversation on, in each request and after a restart', async () => {
  const { send, learn, restart, savings } = await world()
  await learn(4)
  expect(isDeferred((await send('five', called('bash'))).sent[0])).toBe(false)
  await learn(0)
  const first = await send('six')
  expect(isDeferred(first.sent[0])).toBe(true)
  expect(first.sent[0]?.includes(`{"defer_loading":true,"name":"task"`)).toBe(true)
  await restart()
  const [said, given] = called('task')
  const loaded = [{ ...said, content: [found('task'), ...(said!.content as object[])] }, given!]
  const second = await send('six', loaded)
  expect(head(second.sent[0]) === head(first.sent[0])).toBe(true)
  const { definitions } = (await savings()).conversations.find(
    each => each.definitions !== undefined && each.definitions.searches > 0,
  )!
  expect(definitions).toMatchObject({ requests: 2, searches: 1, searched: 2_010 })
  expect(definitions!.spared).toBeGreaterThan(100)
  expect(definitions!.saving).toBeCloseTo(definitions!.spared - definitions!.searched, 1)
  expect(definitions!.used).toBeGreaterThan(1_000)
})

it('the client’s own bytes are sent if its vendor refuses, and its kind is left alone', async () => {
  const { send, learn, savings } = await world(body =>
    JSON.stringify(body).includes('defer_loading') ? 'defer_loading: not here' : null,
  )
  await learn(5)
  const first = await send('six')
  expect([first.status, first.sent.map(isDeferred)]).toEqual([200, [true, false]])
  expect(first.sent[1]).toBe(first.own)
  const { conversations } = await savings()
  expect(conversations[0]?.definitions).toBeUndefined()
  await vi.waitFor(async () => {
    const next = await send('six', called('bash'))
    expect(next.sent).toEqual([next.own])
  })
  const other = await send('seven')
  expect(other.sent).toEqual([other.own])
})

it('a fault of the client’s own is told, and is no refusal', async () => {
  const { send, learn } = await world(body =>
    JSON.stringify(body).includes('Go wrong') ? 'prompt is too long' : refusalOf(body),
  )
  await learn(5)
  expect(await send('wrong')).toMatchObject({ status: 400 })
  expect((await send('six')).sent.map(isDeferred)).toEqual([true])
})

it('tools come back if the client drops what was found, and wait for none of its kind', async () => {
  const { send, learn } = await world()
  await learn(5)
  await send('six')
  const dropped = await send('six', called('task'))
  expect(dropped.sent).toEqual([dropped.own])
  await learn(0)
  const next = await send('seven')
  expect(next.sent).toEqual([next.own])
})
