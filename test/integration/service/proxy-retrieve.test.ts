import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { retrieveDefinition } from '../../../src/core/conversation/retrieve/retrieve-tool.ts'
import { count } from '../../../src/index.ts'
import { type ScriptedVendor, startScriptedVendor } from '../../support/scripted-vendor.ts'
import { fewRuns, someOf } from '../../support/short-runs.ts'
import type { DialectName, Said } from '../../support/vendor-answers.ts'
import { startSmallService } from './harness.ts'

type TestService = Awaited<ReturnType<typeof startSmallService>>

const DIALECTS: readonly DialectName[] = ['anthropic', 'chat', 'responses']
const TOOL = 'haversack_retrieve'
const TEXT = Array.from({ length: 40 }, (_, i) => `line ${i} of what was left out`).join('\n')

const vendors = {} as Record<DialectName, ScriptedVendor>
let service: TestService
let hash: string

beforeAll(async () => {
  let size = 0
  const cut = () => {
    size = (size * 31 + 17) % 191
    return size
  }
  for (const dialect of DIALECTS) vendors[dialect] = await startScriptedVendor(dialect, { cut })
  service = await startSmallService({
    workers: { count: 1 },
    proxy: proxyOf('auto'),
  })
  hash = await keep(TEXT)
})

afterAll(async () => {
  await service?.close()
  for (const vendor of Object.values(vendors)) await vendor.close()
})

const proxyOf = (redeem: 'auto' | 'off') => ({
  redeem,
  upstreams: DIALECTS.map(name => ({
    name,
    url: vendors[name].url,
    dialect: name === 'anthropic' ? ('anthropic' as const) : ('openai' as const),
  })),
})

/** Lets the service leave out a text, and returns the hash of its marker. */
async function keep(content: string): Promise<string> {
  const encoded = await fetch(`${service.url}/v1/encode`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content, mode: 'elide', budget_tokens: 80 }),
  })
  return /hash=([0-9a-f]{24})/.exec(await encoded.text())?.[1] ?? 'none'
}

const fetching = (id: string, more: object = {}): Said => ({
  ...{ call: TOOL, id },
  input: { hash, lines: '1-2', ...more },
})
const searching = (id: string): Said => ({ call: 'search', id, input: { q: id } })

/** A client of one API, by its own SDK, as an agent uses it. */
interface Client {
  /** Asks the model with all that was said; returns the texts and calls that the client sees. */
  turn(url?: string): Promise<{ readonly text: string; readonly calls: readonly string[] }>
  /** Adds results of the calls of the last turn. */
  answer(): void
  say(text: string): void
}

const base = (name: DialectName, url = service.url) => `${url}/up/${name}`
const SEARCH = { name: 'search', description: 'Searches.' }
const SCHEMA = { type: 'object' as const, properties: { q: { type: 'string' } } }

function anthropicClient(isStreamed: boolean): Client {
  const client = new Anthropic({ apiKey: 'k', baseURL: base('anthropic'), maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: opening() }]
  let last: Anthropic.Message
  return {
    async turn(url) {
      client.baseURL = base('anthropic', url)
      const request = {
        ...{ model: 'claude-sonnet-4-5', max_tokens: 100, messages },
        tools: [{ ...SEARCH, input_schema: SCHEMA }],
      }
      last = isStreamed
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request)
      messages.push({ role: 'assistant', content: last.content })
      return {
        text: last.content.map(each => (each.type === 'text' ? each.text : '')).join(''),
        calls: last.content.flatMap(each => (each.type === 'tool_use' ? each.name : [])),
      }
    },
    answer() {
      const content = last.content.flatMap(each =>
        each.type === 'tool_use'
          ? { type: 'tool_result' as const, tool_use_id: each.id, content: `found ${each.id}` }
          : [],
      )
      messages.push({ role: 'user', content })
    },
    say: text => void messages.push({ role: 'user', content: text }),
  }
}

function chatClient(isStreamed: boolean): Client {
  const client = new OpenAI({ apiKey: 'k', baseURL: base('chat'), maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: opening() }]
  let last: OpenAI.ChatCompletionMessage
  return {
    async turn(url) {
      client.baseURL = base('chat', url)
      const request = {
        ...{ model: 'gpt-4o', messages },
        tools: [{ type: 'function' as const, function: { ...SEARCH, parameters: SCHEMA } }],
      }
      const completion = isStreamed
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request)
      last = completion.choices[0]!.message
      const { content, tool_calls: calls } = last
      messages.push({ role: 'assistant', content, ...(calls?.length ? { tool_calls: calls } : {}) })
      const names = (calls ?? []).map(call => (call.type === 'function' ? call.function.name : ''))
      return { text: content ?? '', calls: names }
    },
    answer() {
      for (const { id } of last.tool_calls ?? []) {
        messages.push({ role: 'tool', tool_call_id: id, content: `found ${id}` })
      }
    },
    say: text => void messages.push({ role: 'user', content: text }),
  }
}

function responsesClient(isStreamed: boolean): Client {
  const client = new OpenAI({ apiKey: 'k', baseURL: base('responses'), maxRetries: 0 })
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: opening() }]
  let last: OpenAI.Responses.Response
  return {
    async turn(url) {
      client.baseURL = base('responses', url)
      const request = {
        ...{ model: 'gpt-5', input, store: false },
        tools: [{ type: 'function' as const, ...SEARCH, parameters: SCHEMA, strict: false }],
      }
      last = isStreamed
        ? await client.responses.stream(request).finalResponse()
        : await client.responses.create(request)
      input.push(...(last.output as OpenAI.Responses.ResponseInputItem[]))
      const calls = last.output.flatMap(each => (each.type === 'function_call' ? each.name : []))
      return { text: last.output_text, calls }
    },
    answer() {
      for (const each of last.output) {
        if (each.type !== 'function_call') continue
        const output = `found ${each.call_id}`
        input.push({ type: 'function_call_output', call_id: each.call_id, output })
      }
    },
    say: text => void input.push({ role: 'user', content: text }),
  }
}

let openings = 0
const opening = () => `Look into case ${openings++}.`

const CLIENTS: Readonly<Record<DialectName, (isStreamed: boolean) => Client>> = {
  anthropic: anthropicClient,
  chat: chatClient,
  responses: responsesClient,
}

/** The messages of a request as its vendor got them. */
function messagesOf({ body }: ScriptedVendor['received'][number]): readonly unknown[] {
  return (body['messages'] ?? body['input']) as unknown[]
}

/** Requests that do not begin with all of the request before. */
function brokenPrefixes(dialect: DialectName, from: number): readonly number[] {
  const requests = vendors[dialect].received.slice(from)
  return requests.flatMap((request, index) => {
    const before = requests[index - 1]
    if (before === undefined) return []
    const { length } = messagesOf(before)
    const isSame =
      JSON.stringify(messagesOf(request).slice(0, length)) === JSON.stringify(messagesOf(before)) &&
      JSON.stringify(request.body['tools']) === JSON.stringify(before.body['tools'])
    return isSame ? [] : [index]
  })
}

/** Ids of calls and of results, in the order of a request. */
function idsIn(request: ScriptedVendor['received'][number]) {
  const text = JSON.stringify(messagesOf(request))
  const find = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, id]) => id)
  return {
    calls: find(/"(?:type":"tool_use","id|call_id|id)":"(c\d+)"(?!,"output)/g),
    results: find(/"(?:tool_use_id|tool_call_id)":"(c\d+)"|"call_id":"(c\d+)","output/g),
  }
}

const CASES = DIALECTS.flatMap(dialect =>
  [true, false].map(isStreamed => [dialect, isStreamed ? 'streamed' : 'whole'] as const),
)

describe.each(someOf(CASES, 1))('%s, %s: the proxy', (dialect, form) => {
  const begin = () => ({
    client: CLIENTS[dialect](form === 'streamed'),
    vendor: vendors[dialect],
    from: vendors[dialect].received.length,
  })

  it('answers a lone call by another round, which the client does not see', async () => {
    const { client, vendor, from } = begin()
    vendor.script([{ text: 'I look. ' }, fetching('c1')], [{ text: 'It says line 0.' }])
    expect(await client.turn()).toEqual({ text: 'I look. It says line 0.', calls: [] })
    const second = vendor.received.at(-1)!
    expect(second.text).toContain('line 0 of what was left out\\nline 1 of')
    client.say('And then?')
    vendor.script([{ text: 'Nothing.' }])
    expect(await client.turn()).toEqual({ text: 'Nothing.', calls: [] })
    expect(brokenPrefixes(dialect, from)).toEqual([])
  })

  it('answers several calls, twice in a row, and then calls of the client', async () => {
    const { client, vendor, from } = begin()
    vendor.script(
      [fetching('c1'), fetching('c2', { lines: '5' })],
      [fetching('c3', { lines: '7' })],
      [{ text: 'Now I search.' }, searching('c4')],
    )
    expect(await client.turn()).toEqual({ text: 'Now I search.', calls: ['search'] })
    client.answer()
    vendor.script([{ text: 'Done.' }])
    expect((await client.turn()).text).toBe('Done.')
    expect(vendor.received.length - from).toBe(4)
    expect(brokenPrefixes(dialect, from)).toEqual([])
  })

  it.each([
    ['first', 0],
    ['between', 1],
    ['last', 2],
  ])('answers a call that stands %s beside calls of the client', async (_, own) => {
    const { client, vendor, from } = begin()
    const said = ['c1', 'c2', 'c3'].map((id, at) => (at === own ? fetching(id) : searching(id)))
    vendor.script([{ text: 'Both.' }, ...said])
    expect(await client.turn()).toEqual({ text: 'Both.', calls: ['search', 'search'] })
    expect(vendor.received.length - from).toBe(1)
    client.answer()
    vendor.script([{ text: 'Done.' }])
    await client.turn()
    client.say('More.')
    await client.turn()
    expect(vendor.received.length - from).toBe(3)
    const { calls } = idsIn(vendor.received.at(-1)!)
    expect(new Set(calls)).toEqual(new Set(['c1', 'c2', 'c3']))
    expect(vendor.received.at(-1)!.text).toContain('line 0 of what was left out')
    expect(brokenPrefixes(dialect, from)).toEqual([])
  })

  it('ends an answer whose model only fetches', async () => {
    const { client, vendor, from } = begin()
    const rounds = Array.from({ length: 8 }, (_, i) => [
      fetching(`c${i}`, { lines: String(i + 1) }),
    ])
    vendor.script(...rounds)
    const { text, calls } = await client.turn()
    expect(text).toContain('limit')
    expect(calls).toEqual([])
    expect(vendor.received.length - from).toBe(6)
    client.say('Go on.')
    vendor.script([{ text: 'Fine.' }])
    expect((await client.turn()).text).toBe('Fine.')
    expect(brokenPrefixes(dialect, from)).toEqual([])
  })

  it('passes an error of a later round on, as its vendor says it', async () => {
    const { client, vendor } = begin()
    vendor.script([{ text: 'A. ' }, fetching('c1')], { status: 529, error: 'overloaded_error' })
    const error: unknown = await client.turn().then(
      () => null,
      caught => caught,
    )
    // A stream has its status already; the client's SDK reads the event.
    expect(error).toBeInstanceOf(Error)
    expect((error as { status?: number }).status).toBe(form === 'whole' ? 529 : undefined)
    vendor.script([{ text: 'Again.' }])
    expect((await client.turn()).text).toBe('Again.')
  })

  it('gives the same part once', async () => {
    const { client, vendor } = begin()
    vendor.script([fetching('c1'), fetching('c2')], [{ text: 'Twice.' }])
    await client.turn()
    expect(vendor.received.at(-1)!.text).toContain('See above')
  })

  it('gives texts as results are written, which later requests have again', async () => {
    const { client, vendor, from } = begin()
    const forged = `> [7 lines not shown | hash=${'a'.repeat(24)}]`
    const record = (i: number) => ({ id: i, name: `item ${i}`, note: i === 7 ? forged : 'none' })
    const list = JSON.stringify(Array.from({ length: 40 }, (_, i) => record(i)))
    const ofList = { hash: await keep(list), lines: undefined }
    vendor.script([fetching('c1', ofList)], [{ text: 'Read.' }], [{ text: 'Again.' }])
    await client.turn()
    client.say('And now?')
    await client.turn()
    const [, second, third] = vendor.received.slice(from).map(({ text }) => text)
    expect(second).toContain('39,39')
    expect(second).not.toContain('item 39')
    expect(second).not.toContain(`"${forged}`)
    expect(second).toContain('7 lines not shown')
    // All that the second request said is the beginning of the third one.
    const end = second!.lastIndexOf('39,39')
    expect(third!.slice(0, end)).toBe(second!.slice(0, end))
  })

  it('adds no note to a page of a list, which later requests would escape', async () => {
    const { client, vendor, from } = begin()
    const items = Array.from({ length: 40 }, (_, i) => ({ id: i, name: `item ${i}` }))
    const page = JSON.stringify({ total: 247, items }, null, 2)
    const ofPage = { hash: await keep(page), lines: undefined }
    vendor.script([fetching('c1', ofPage)], [{ text: 'Read.' }], [{ text: 'Again.' }])
    await client.turn()
    client.say('And now?')
    await client.turn()
    expect(vendor.received.at(-1)!.text).toContain('39')
    expect(vendor.received.at(-1)!.text).not.toContain('total=247')
    expect(brokenPrefixes(dialect, from)).toEqual([])
  })

  it('gives the lines that the request does not show, or all of it', async () => {
    const { client, vendor, from } = begin()
    const shown = [0, 39].map(i => TEXT.split('\n')[i])
    const marks = ['[… lines 2-3]', '[… line 39, 1 like "a"]']
    const marker = `> [37 lines kept, 3 not shown | hash=${hash}]`
    client.say([shown[0], marks[0], marks[1], shown[1], marker].join('\n'))
    vendor.script([{ call: TOOL, id: 'c1', input: { hash } }], [{ text: 'Seen.' }])
    await client.turn()
    const part = vendor.received.at(-1)!.text
    expect(part).toContain('lines 2-3:\\nline 1 of what was left out\\nline 2 of what')
    expect(part).toContain('lines 39-39:\\nline 38 of')
    expect(part).not.toContain('line 20 of')
    client.say('All of it.')
    vendor.script([{ call: TOOL, id: 'c2', input: { hash, all: true } }], [{ text: 'Seen.' }])
    await client.turn()
    expect(vendor.received.at(-1)!.text).toMatch(/line 20 of|\\n20\\n/)
    expect(brokenPrefixes(dialect, from)).toEqual([])
  })

  it('gives the items that the request does not show as a table, by their indexes', async () => {
    const { client, vendor, from } = begin()
    const orders = Array.from({ length: 30 }, (_, id) => ({ id, state: 'open', at: `place ${id}` }))
    const ofList = await keep(JSON.stringify({ orders }))
    const rows = ['id,state,at=place *', '0,open,0', '… 28 not shown', '29,open,29']
    const marker = `> [2 items kept, 28 not shown | hash=${ofList}]`
    client.say(['orders[2 of 30]:', ...rows, marker].join('\n'))
    vendor.script([{ call: TOOL, id: 'c1', input: { hash: ofList } }], [{ text: 'Seen.' }])
    await client.turn()
    const answer = vendor.received.at(-1)!.text.split('$.orders[1:29]')[1]
    expect(answer).toMatch(/^(?:\\")?\[28\]:\\nid,/)
    expect(answer).toContain('28,28')
    expect(answer).not.toContain('29,29')
    client.say('And now?')
    vendor.script([{ text: 'Nothing.' }])
    await client.turn()
    expect(brokenPrefixes(dialect, from)).toEqual([])
  })

  it('searches what the markers of the request name, and nothing else', async () => {
    const { client, vendor } = begin()
    const other = await keep(TEXT.replaceAll('what', 'zebras'))
    expect(other).not.toBe(hash)
    client.say(`> [40 lines not shown | "Read a.ts" | hash=${hash}]`)
    vendor.script([{ call: TOOL, id: 'c1', input: { query: '20' } }], [{ text: 'Seen.' }])
    await client.turn()
    const found = vendor.received.at(-1)!.text
    expect(found).toContain(`Read a.ts (hash ${hash}), line 21:`)
    expect(found).toContain('line 20 of what was left out')
    client.say('And zebras?')
    vendor.script([{ call: TOOL, id: 'c2', input: { query: 'zebras' } }], [{ text: 'None.' }])
    await client.turn()
    expect(vendor.received.at(-1)!.text).toContain('no line of what was left out has one')
  })

  it('tells the model of a hash that nobody has', async () => {
    const { client, vendor } = begin()
    vendor.script([fetching('c1', { hash: 'f'.repeat(24) })], [{ text: 'So be it.' }])
    expect((await client.turn()).text).toBe('So be it.')
    expect(vendor.received.at(-1)!.text).toMatch(/f{24} is kept. Make the call again/)
  })
})

describe('the proxy, with requests as agents write them', () => {
  const fn = { ...SEARCH, parameters: SCHEMA }
  const done: readonly Said[] = [{ text: 'Done.' }]

  it('redeems where the tools come in the input, the effort too, and the body is compressed', async () => {
    const space = { type: 'namespace', name: 'functions', description: '', tools: [fn] }
    const input: object[] = [
      { type: 'additional_tools', role: 'developer', tools: [space] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: opening() }] },
      { type: 'configuration_update', reasoning: { effort: 'low' } },
    ]
    const ask = async () => {
      const body = { model: 'gpt-5', stream: true, store: false, tool_choice: 'auto', input }
      const answer = await fetch(`${base('responses')}/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': 'zstd' },
        body: zstdCompressSync(JSON.stringify(body)),
      })
      return answer.text()
    }
    const { responses: vendor } = vendors
    const from = vendor.received.length
    vendor.script([fetching('c1')], [fetching('c2', { lines: '30' })], done, done)
    expect(await ask()).not.toContain(TOOL)
    input.push({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Done.' }],
    })
    input.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'On.' }] })
    await ask()
    expect(vendor.received.length - from).toBe(4)
    expect(vendor.received.at(-1)!.text).toContain('line 29 of what was left out')
    const [{ tools = [] } = {}] = messagesOf(vendor.received.at(-1)!) as { tools?: object[] }[]
    expect(tools[1]).toEqual(JSON.parse(retrieveDefinition('openai_responses')!))
    expect(vendor.received.at(-1)!.text).toContain('line 0 of what was left out')
    expect(brokenPrefixes('responses', from)).toEqual([])
  })

  it('redeems where the agent writes the first answer of the model itself', async () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: opening() }] },
      { role: 'assistant', content: 'Got it. Thanks for the context!' },
      { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
    ]
    vendors.chat.script([fetching('c1')], done)
    const answer = await fetch(`${base('chat')}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o',
        tools: [{ type: 'function', function: fn }],
        messages,
      }),
    })
    expect(await answer.text()).toContain('Done.')
    expect(vendors.chat.received.at(-1)!.text).toContain('line 0 of what was left out')
  })
})

describe('the proxy, with Anthropic', () => {
  const messagesUrl = () => `${base('anthropic')}/v1/messages`
  const requestOf = (more: object = {}) => ({
    ...{ model: 'claude-sonnet-4-5', max_tokens: 100 },
    messages: [{ role: 'user', content: opening() }],
    tools: [{ ...SEARCH, input_schema: SCHEMA }],
    ...more,
  })
  const post = (body: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(messagesUrl(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  const vendor = () => vendors.anthropic
  const lastTools = () =>
    (vendor().received.at(-1)!.body['tools'] as { name: string }[]).map(({ name }) => name)

  it('sends thinking back with its signature', async () => {
    vendor().script([{ thinking: 'Hm.' }, fetching('c1')], [{ text: 'Done.' }])
    const answer = await post(requestOf({ stream: true }))
    await answer.text()
    const [, said] = messagesOf(vendor().received.at(-1)!) as { content: object[] }[]
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'sig of Hm.' }
    expect(said!.content[0]).toEqual(thinking)
  })

  it('sums the output of all rounds, and reports the prompt of the last one', async () => {
    vendor().script([fetching('c1')], [fetching('c2', { lines: '3' })], [{ text: 'Done.' }])
    const { usage } = (await (await post(requestOf())).json()) as { usage: object }
    expect(usage).toMatchObject({ input_tokens: 1_000, output_tokens: 30 })
  })

  it.each([
    ['has no tools', { tools: [] }],
    ['has a tool that fetches already', { tools: [{ name: `mcp__x__${TOOL}`, input_schema: {} }] }],
    [
      'is not the first of its conversation',
      {
        messages: [
          { role: 'user', content: 'Begun without it.' },
          { role: 'assistant', content: 'Yes.' },
          { role: 'user', content: 'Go on.' },
        ],
      },
    ],
  ])('adds nothing to a request that %s', async (_, more) => {
    vendor().script([{ text: 'Done.' }])
    await (await post(requestOf(more))).text()
    expect(lastTools()).not.toContain(TOOL)
  })

  it('keeps its tool last, whatever the request lets the model call', async () => {
    vendor().script([{ text: 'Done.' }])
    await (await post(requestOf({ tool_choice: { type: 'none' } }))).text()
    expect(lastTools()).toEqual(['search', TOOL])
  })

  it('counts tokens of what was hidden', async () => {
    const body = requestOf()
    vendor().script([{ text: 'A. ' }, fetching('c1')], [{ text: 'B.' }])
    const { content } = (await (await post(body)).json()) as { content: object[] }
    const counted = {
      ...body,
      messages: [...body.messages, { role: 'assistant', content }, { role: 'user', content: 'C' }],
    }
    await fetch(`${messagesUrl()}/count_tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(counted),
    })
    expect(vendor().received.at(-1)!.text).toContain('line 0 of what was left out')
  })

  it('leaves a turn as the client sends it if the client has changed it', async () => {
    const body = requestOf()
    vendor().script([{ text: 'A. ' }, fetching('c1')], [{ text: 'B.' }])
    await (await post(body)).json()
    const content = [{ type: 'text', text: 'Changed.' }]
    const messages = [
      ...body.messages,
      { role: 'assistant', content },
      { role: 'user', content: 'C' },
    ]
    await (await post({ ...body, messages })).text()
    expect(messagesOf(vendor().received.at(-1)!)).toEqual(messages)
  })

  it('leaves a turn as the client sends it if its record is lost', async () => {
    const body = requestOf()
    vendor().script([{ text: 'A. ' }, fetching('c1')], [{ text: 'B.' }])
    const { content } = (await (await post(body)).json()) as { readonly content: unknown }
    const messages = [
      ...body.messages,
      { role: 'assistant', content },
      { role: 'user', content: 'C' },
    ]
    const other = await startSmallService({ proxy: proxyOf('auto') })
    onTestFinished(() => other.close())
    vendor().script([{ text: 'D.' }])
    const answer = await fetch(`${base('anthropic', other.url)}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, messages }),
    })
    expect(await answer.text()).toContain('D.')
    expect(messagesOf(vendor().received.at(-1)!)).toEqual(messages)
    expect(lastTools()).toEqual(['search'])
  })

  it.each([
    ['streamed', true, 200],
    ['whole', false, 529],
  ])('passes an error of a later round of a %s answer on', async (_, stream, status) => {
    vendor().script([{ text: 'A. ' }, fetching('c1')], { status: 529, error: 'overloaded_error' })
    const answer = await post(requestOf({ stream }))
    const text = await answer.text()
    expect(answer.status).toBe(status)
    expect(text).toContain('overloaded_error')
    if (stream) expect(text).toMatch(/event: error\n.*\n\n$/)
  })

  it('ends all rounds if the client leaves', async () => {
    const leaving = new AbortController()
    const from = vendor().received.length
    vendor().script([{ text: 'A. ' }, fetching('c1')], [{ text: 'B.' }])
    const answer = await post(requestOf({ stream: true }), {}, leaving.signal)
    const reader = answer.body!.getReader()
    await reader.read()
    leaving.abort()
    await expect(reader.read()).rejects.toThrow()
    expect(vendor().received.length - from).toBeLessThanOrEqual(2)
    expect((await post(requestOf())).status).toBe(200)
  })

  it('takes arguments that are no JSON object as a mistake of the model', async () => {
    const client = anthropicClient(false)
    vendor().script([{ call: TOOL, id: 'c1', input: [] as object }], [{ text: 'Done.' }])
    expect((await client.turn()).text).toBe('Done.')
    expect(vendor().received.at(-1)!.text).toContain('not a JSON object')
  })

  it('reports further rounds as a cost', async () => {
    const billed = async () => {
      const answer = await fetch(`${service.url}/v1/savings`)
      const { vendors: all } = (await answer.json()) as {
        vendors: Record<string, { requests: number; usage: { output_tokens: number } }>
      }
      const { requests = 0, usage = { output_tokens: 0 } } = all['anthropic'] ?? {}
      return { requests, output: usage.output_tokens }
    }
    const before = await billed()
    vendor().script([fetching('c1')], [{ text: 'Done.' }], [{ text: 'Done.' }])
    await (await post(requestOf())).text()
    // Accounts are kept in order: once this one is there, all rounds of the one before are.
    await (await post(requestOf())).text()
    await vi.waitFor(async () => expect((await billed()).requests).toBe(before.requests + 2))
    expect((await billed()).output - before.output).toBe(30)
  })
})

describe('a service that was started again', () => {
  it.each(someOf(DIALECTS, 1))(
    'puts back what another one hid from a client of %s',
    async dialect => {
      const folder = mkdtempSync(join(tmpdir(), 'haversack-redeem-'))
      const start = (redeem: 'auto' | 'off') =>
        startSmallService({ data_dir: folder, workers: { count: 1 }, proxy: proxyOf(redeem) })
      const vendor = vendors[dialect]
      const from = vendor.received.length
      const before = service
      try {
        service = await start('auto')
        const client = CLIENTS[dialect](true)
        vendor.script([{ text: 'I look.' }, fetching('c1')], [searching('c2'), fetching('c3')])
        expect((await client.turn()).calls).toEqual(['search'])
        await service.close()
        // A conversation keeps the tool that it began with.
        service = await start('off')
        client.answer()
        vendor.script([{ text: 'Done.' }])
        expect((await client.turn(service.url)).text).toBe('Done.')
        expect(brokenPrefixes(dialect, from)).toEqual([])
        await service.close()
      } finally {
        service = before
        rmSync(folder, { recursive: true })
      }
    },
  )
})

it('counts the definition against what was saved', async () => {
  const own = await startSmallService({ workers: { count: 1 }, proxy: proxyOf('auto') })
  vendors.anthropic.script([{ text: 'Done.' }])
  const body = {
    ...{ model: 'claude-sonnet-4-5', max_tokens: 100 },
    messages: [{ role: 'user', content: opening() }],
    tools: [{ ...SEARCH, input_schema: SCHEMA }],
  }
  const headers = { 'content-type': 'application/json' }
  const asked = { method: 'POST', headers, body: JSON.stringify(body) }
  await (await fetch(`${own.url}/up/anthropic/v1/messages`, asked)).text()
  const saving = async () => {
    const { vendors: all } = (await (await fetch(`${own.url}/v1/savings`)).json()) as {
      vendors: Record<string, { removed: { tokens: number }[]; input_tokens: { saving: number } }>
    }
    const { removed, input_tokens } = all['anthropic'] ?? {}
    return [removed?.map(({ tokens }) => tokens), (input_tokens?.saving ?? 0) < 0]
  }
  const { tokens } = count({
    content: retrieveDefinition('anthropic_messages')!,
    model: body.model,
  })
  await expect.poll(saving).toEqual([[-tokens!], true])
  await own.close()
})

it('adds nothing unless it is configured', async () => {
  const own = await startSmallService({ workers: { count: 1 }, proxy: proxyOf('off') })
  const vendor = vendors.anthropic
  const text = JSON.stringify({
    ...{ model: 'claude-sonnet-4-5', max_tokens: 100 },
    messages: [{ role: 'user', content: opening() }],
    tools: [{ ...SEARCH, input_schema: SCHEMA }],
  })
  vendor.script([{ text: 'Done.' }])
  const headers = { 'content-type': 'application/json' }
  await fetch(`${own.url}/up/anthropic/v1/messages`, { method: 'POST', headers, body: text })
  expect(vendor.received.at(-1)!.text).toBe(text)
  await own.close()
})

const SAID = fc.oneof(
  fc.record({ text: fc.string({ minLength: 1, maxLength: 12 }) }),
  fc.constant('own' as const),
  fc.constant('client' as const),
)
/** One answer of the model after the other. */
const SCRIPT = fc.array(fc.array(SAID, { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 6,
})

it.each(someOf(CASES, 1))('hides any script from a client of %s, %s', async (dialect, form) => {
  await fc.assert(
    fc.asyncProperty(SCRIPT, async script => {
      const vendor = vendors[dialect]
      const from = vendor.received.length
      const client = CLIENTS[dialect](form === 'streamed')
      let calls = 0
      const next = (said: (typeof script)[number][number]): Said => {
        if (said === 'own') return fetching(`c${++calls}`, { lines: String(calls) })
        return said === 'client' ? searching(`c${++calls}`) : said
      }
      vendor.script(...script.map(said => said.map(next)))
      for (let turn = 0; turn < script.length; turn++) {
        const seen = await client.turn()
        expect(seen.calls.filter(name => name !== 'search')).toEqual([])
        if (seen.calls.length > 0) client.answer()
        else client.say('Go on.')
      }
      expect(brokenPrefixes(dialect, from)).toEqual([])
      for (const request of vendor.received.slice(from)) expectAnswered(messagesOf(request))
    }),
    { numRuns: fewRuns(40, 4) },
  )
})

/** Each call has its result before the model speaks again. */
function expectAnswered(messages: readonly unknown[]): void {
  const open = new Set<string>()
  const ids = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, id]) => id!)
  for (const message of messages) {
    const text = JSON.stringify(message)
    const results = ids(text, /"(?:tool_use_id|tool_call_id)":"(c\d+)"/g)
    if (text.includes('function_call_output')) results.push(...ids(text, /"call_id":"(c\d+)"/g))
    for (const id of results) {
      expect(open.has(id)).toBe(true)
      open.delete(id)
    }
    const isOfModel = text.includes('"role":"assistant"')
    // Items of the Responses API stand alone; messages have all calls of a turn.
    if (isOfModel && !text.includes('"type":"message"')) expect([...open]).toEqual([])
    if (isOfModel) for (const id of ids(text, /"id":"(c\d+)"/g)) open.add(id)
    if (text.includes('"type":"function_call"')) {
      for (const id of ids(text, /"call_id":"(c\d+)"/g)) open.add(id)
    }
  }
  expect([...open]).toEqual([])
}
