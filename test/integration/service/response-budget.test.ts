import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ELIDING_PROXIES_FILE } from '../../support/any-saving.ts'
import { json, startSmallService } from './harness.ts'
import { type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

const HEADER = 'x-haversack-response-budget'
const MARKER = ' not shown | hash='

const log = Array.from(
  { length: 300 },
  (_, i) => `12:${i % 60}:07 INFO request ${i * 7919} took ${i % 9} ms`,
).join('\n')

const chat = {
  model: 'gpt-5',
  tools: [{ type: 'function', function: { name: 'haversack_retrieve', parameters: {} } }],
  messages: [
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'log', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: log },
  ],
}
const messages = {
  model: 'claude-sonnet-4-5',
  max_tokens: 9,
  tools: [{ name: 'haversack_retrieve', input_schema: {} }],
  messages: [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'log', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: log }] },
  ],
}

/** A request of each proxy, as a conversation of its own if `first` is a text of its own. */
const PROXIES = {
  openai: (first: string) => ({
    path: '/openai/v1/chat/completions',
    body: { ...chat, messages: withFirst(chat.messages, first) },
  }),
  anthropic: (first: string) => ({
    path: '/anthropic/v1/messages',
    body: { ...messages, messages: withFirst(messages.messages, first) },
  }),
}

/** Names of rewrites have no texts of users in them, so the result differs. */
const withFirst = (list: readonly object[], first: string) =>
  JSON.parse(JSON.stringify(list).replace('request 0 took', `request ${first} took`))

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  const proxy = { anthropic_url: upstream.url, openai_url: upstream.url }
  service = await startSmallService({
    workers: { count: 1 },
    pipeline_config_file: ELIDING_PROXIES_FILE,
    proxy,
  })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

function post(path: string, body: object, wish?: string): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(wish === undefined ? {} : { [HEADER]: wish }),
    },
    body: JSON.stringify(body),
  })
}

describe('X-Haversack-Response-Budget of own routes', () => {
  it('is the level of a result, or its tokens', async () => {
    const at = (wish?: string) => json(post('/v1/encode', { content: log }, wish))
    expect(await at()).toMatchObject({ lossless: true })
    expect(await at(' Compact ')).toMatchObject({ lossless: false, response_level: 'compact' })
    const fitted = await at('700')
    expect(fitted).toMatchObject({ lossless: false })
    expect((fitted['tokens'] as { final: number }).final).toBeLessThanOrEqual(700)
  })

  it('yields to the field, and holds for each job of a batch', async () => {
    const whole = { content: log, response_budget: 'full' }
    expect(await json(post('/v1/encode', whole, 'compact'))).toMatchObject({ lossless: true })
    const jobs = [
      { op: 'encode', content: log },
      { op: 'encode', ...whole },
    ]
    const { results } = (await json(post('/v1/batch', { jobs }, 'compact'))) as {
      results: { lossless: boolean }[]
    }
    expect(results.map(({ lossless }) => lossless)).toEqual([false, true])
  })

  it('holds for the tool results of /v1/compress', async () => {
    const compress = async (wish?: string) =>
      JSON.stringify(await json(post('/v1/compress', chat, wish)))
    expect(await compress()).not.toContain(MARKER)
    expect(await compress('compact')).toContain(MARKER)
  })

  it.each(['/v1/encode', '/v1/batch', '/v1/compress'])(
    'is refused by %s if unreadable',
    async path => {
      const response = await post(path, { content: log }, 'tiny')
      expect(response.status).toBe(400)
      const problem = (await response.json()) as { code: string; errors: { path: string }[] }
      expect([problem.code, problem.errors[0]?.path]).toEqual(['invalid_request', HEADER])
    },
  )
})

describe.each(['openai', 'anthropic'] as const)('X-Haversack-Response-Budget at /%s', vendor => {
  /** The body that the vendor got. */
  async function forwarded(first: string, wish?: string): Promise<string> {
    const { path, body } = PROXIES[vendor](first)
    await (await post(path, body, wish)).text()
    const request = upstream.requests.at(-1)!
    expect(request.rawHeaders.map(name => name.toLowerCase())).not.toContain(HEADER)
    return request.body.toString()
  }

  it('is the level of results that come for the first time', async () => {
    expect(await forwarded('1', 'full')).not.toContain(MARKER)
    // Without a wish the bulk of large results leaves.
    expect(await forwarded('2')).toContain(MARKER)
    expect(await forwarded('3', 'compact')).toContain(MARKER)
  })

  it('does not change how a result was sent before', async () => {
    const first = await forwarded('4', 'full')
    expect(await forwarded('4', 'compact')).toBe(first)
  })

  it('is no reason to refuse a request if it cannot be read', async () => {
    expect(await forwarded('5', 'tiny')).toContain(MARKER)
  })
})
