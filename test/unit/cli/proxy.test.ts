import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { untouchedBecause } from '../../../src/cli/proxy/command.ts'
import { rewriteRequestOperation } from '../../../src/core/operations/rewrite-request.ts'
import { captureCli } from '../../support/capture.ts'
import { localContext } from '../../support/local-context.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-proxy-check-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => vi.unstubAllEnvs())

const ROWS = JSON.stringify(
  Array.from({ length: 10 }, (_, id) => ({ id, name: `item ${id}`, state: 'open' })),
  null,
  2,
)

const file = (name: string, content: unknown): string => {
  const path = join(folder, name)
  const raw = typeof content === 'string' || content instanceof Uint8Array
  writeFileSync(path, raw ? content : JSON.stringify(content))
  return path
}

/** A call of Anthropic's shape and its result. */
function turn(id: string, name: string, content: unknown, more: object = {}): object[] {
  const call = { type: 'tool_use', id, name, input: {} }
  const result = { type: 'tool_result', tool_use_id: id, content, ...more }
  return [
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'text', text: 'see' }, result] },
  ]
}

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }
const MESSAGES = {
  model: 'claude-sonnet-4',
  max_tokens: 9,
  messages: [
    ...turn('t1', 'list', ROWS),
    ...turn('t2', 'mcp__store__headroom_retrieve', ROWS, { cache_control: { type: 'ephemeral' } }),
    ...turn('t3', 'say', 'nothing to gain here'),
    ...turn('t4', 'list', [image, { type: 'text', text: ROWS }], { is_error: true }),
  ],
}
const CHAT = {
  model: 'gpt-5',
  messages: [
    {
      role: 'assistant',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'list\u001b[31m', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: ROWS },
  ],
}
const RESPONSES = {
  model: 'gpt-5',
  input: [
    { type: 'function_call', call_id: 'c1', name: 'list', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: ROWS },
  ],
}

interface Answer {
  readonly route: string
  readonly texts: readonly Record<string, unknown>[]
  readonly tokens_saved: number
  readonly bytes_before: number
  readonly bytes_after: number
  readonly unchanged: boolean
  readonly [name: string]: unknown
}

async function check(body: unknown, ...options: string[]): Promise<Answer> {
  const path = file('body.json', body)
  const { code, stdout } = await captureCli('proxy', '--check', path, '--json', ...options)
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

describe('proxy --check', () => {
  it('tells place, call and result of every text', async () => {
    const { texts, ...sums } = await check(MESSAGES)
    expect(texts).toMatchObject([
      { message: 1, block: 1, part: 0, tool: 'list', call_id: 't1', kept: null },
      { message: 3, block: 1, tool: 'mcp__store__headroom_retrieve', kept: 'redeeming tool' },
      { message: 5, block: 1, tool: 'say', kept: 'no gain', format: null },
      { message: 7, block: 1, part: 1, tool: 'list', is_error: true, kept: null },
    ])
    expect(texts.map(text => text['cached_prefix'])).toEqual([true, true, false, false])
    expect(texts.map(text => text['format'] !== null)).toEqual([true, false, false, true])
    expect(sums).toMatchObject({ route: 'messages', model: 'claude-sonnet-4', exact: false })
    const saved = texts.map(text => Number(text['tokens_before']) - Number(text['tokens_after']))
    expect(saved[0]).toBeGreaterThan(20)
    expect(saved.slice(1, 3)).toEqual([0, 0])
    expect(saved.reduce((sum, tokens) => sum + tokens)).toBe(sums.tokens_saved)
  })

  it('refers to earlier results of the request, as a proxy does', async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `line ${n} says ${n * 7919}`)
    const read = (id: string, extra: string) => turn(id, 'read', [...lines, extra].join('\n'))
    const messages = [...read('a', 'one'), ...read('b', 'two')]
    const { texts } = await check({ ...MESSAGES, messages }, '--show')
    expect(texts[1]).toMatchObject({ kept: null, format: expect.stringMatching(/^[a-z_]+$/) })
    expect(Number(texts[1]?.['tokens_after'])).toBeLessThan(60)
    expect(texts[1]?.['text']).toContain('two')
  })

  it.each([
    ['messages', MESSAGES, 'anthropic_messages'],
    ['chat', CHAT, 'openai_chat'],
    ['responses', RESPONSES, 'openai_responses'],
  ] as const)('shows what the operation of the proxies writes: %s', async (name, body, route) => {
    const { texts, ...sums } = await check(body, '--show')
    const sent = Buffer.from(JSON.stringify(body))
    const { bytes } = rewriteRequestOperation(route).run(sent, localContext())
    const forwarded = Buffer.from(bytes ?? sent).toString()
    expect(sums).toMatchObject({
      route: name,
      unchanged: false,
      bytes_before: sent.length,
      bytes_after: Buffer.byteLength(forwarded),
    })
    expect(texts.some(({ kept }) => kept === null)).toBe(true)
    for (const { text } of texts) expect(forwarded).toContain(JSON.stringify(text))
  })

  it('prints a table, and the new texts where asked', async () => {
    const path = file('chat.json', CHAT)
    const plain = await captureCli('proxy', '--check', path)
    expect(plain.stderr).toBe(
      'haversack: proxy is a part of show now: haversack show --check FILE\n' +
        'haversack: read as a request to chat: it has messages of the role tool or function\n',
    )
    expect(plain.stdout).toMatch(/^message +block +part +tool +call +before +after +format +/)
    expect(plain.stdout).toMatch(/ 1 +0 +0 +list·\[31m +c1 +\d+ +\d+ +\S+@\d+ +no +rewritten\n/)
    expect(plain.stdout).toMatch(
      /\n1 of 1 text rewritten, \d+ tokens saved \(\w+\); \d+ → \d+ bytes, all others as they came\.\n$/,
    )
    const shown = await captureCli('proxy', '--check', path, '--show', '--route', 'chat')
    expect(shown.stderr).toBe(
      'haversack: proxy is a part of show now: haversack show --check FILE\n',
    )
    expect(shown.stdout.startsWith(plain.stdout)).toBe(true)
    expect(shown.stdout.slice(plain.stdout.length)).toMatch(
      /^\n--- message 1, block 0, part 0: \S+@\d+\n[\s\S]*item/,
    )
  })

  it('names results that programs get', async () => {
    const call = { type: 'tool_use', id: 'p', name: 'list', input: {}, caller: { type: 'code' } }
    const result = { type: 'tool_result', tool_use_id: 'p', content: ROWS }
    const messages = [
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ]
    const path = file('program.json', { ...MESSAGES, messages })
    const { stdout } = await captureCli('proxy', '--check', path)
    expect(stdout).toMatch(/\n +1 +0 +list +p +– +kept: program result\n/)
    expect(stdout).toContain('forwarded byte for byte')
    expect(await check({ ...RESPONSES, tools: [{ type: 'programmatic_tool_calling' }] })).toEqual(
      expect.objectContaining({ program_results: [], unchanged: false }),
    )
    const input = RESPONSES.input.slice(1)
    const unknown = { ...RESPONSES, input, tools: [{ type: 'programmatic_tool_calling' }] }
    expect((await check(unknown))['program_results']).toEqual([
      { message: 0, block: 0, tool: null, call_id: 'c1' },
    ])
  })

  it('says that a body is forwarded byte for byte', async () => {
    const path = file('still.json', { ...MESSAGES, messages: turn('t', 'say', 'nothing') })
    const { stdout } = await captureCli('proxy', '--check', path)
    expect(stdout).toMatch(
      /\n1 text of tool results, nothing is rewritten: forwarded byte for byte\.\n$/,
    )
    expect(await check({ ...MESSAGES, messages: [] }, '--route', 'messages')).toMatchObject({
      texts: [],
      unchanged: true,
    })
  })

  it('is not rewritten if compression is off', async () => {
    const kept = 'compression is off'
    vi.stubEnv('HAVERSACK_CONFIG', file('haversack.toml', '[compression]\nenabled = false\n'))
    const { texts, ...sums } = await check(CHAT)
    expect(texts).toMatchObject([{ kept, format: null }])
    expect(sums).toMatchObject({ tokens_saved: 0, unchanged: true })
    expect(sums.bytes_after).toBe(sums.bytes_before)
  })
})

it('is not rewritten above 32 MiB', () => {
  expect(untouchedBecause(new Uint8Array(2 ** 25))).toBe(null)
  expect(untouchedBecause(new Uint8Array(2 ** 25 + 1))).toBe('above 32 MiB')
})

describe('what it cannot check', () => {
  it.each([
    ['no JSON', '{"messages":', [], 'is no JSON in UTF-8'],
    ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), [], 'is no JSON in UTF-8'],
    ['a byte order mark', `\ufeff${JSON.stringify(CHAT)}`, [], 'is no JSON in UTF-8'],
    ['no object', '[1]', ['--route', 'chat'], 'it is no object'],
    ['no conversation', '{"model":"m"}', ['--route', 'messages'], 'its conversation is missing'],
    ['a doubled key', '{"messages":[],"messages":[]}', ['--route', 'chat'], 'a key twice'],
  ])('fails for %s', async (_, body, options, reason) => {
    const path = file('bad', body)
    const { code, stdout, stderr } = await captureCli('proxy', '--check', path, ...options)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(reason)
  })

  it.each([
    [[]],
    [['--check', join(folder, 'none')]],
    [['--check', file('both.json', { ...CHAT, input: [] })]],
    [['--check', file('neither.json', { messages: [{ role: 'user', content: 'hi' }] })]],
    [['--check', file('known.json', CHAT), '--route', 'completions']],
  ])('takes %j for wrong usage', async options => {
    const { code, stdout, stderr } = await captureCli('proxy', ...options)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Try: haversack proxy --help')
  })
})
