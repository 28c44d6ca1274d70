import { describe, expect, it } from 'vitest'
import { decode, encode } from '../../../../../src/index.ts'
import { testApp } from '../../../../support/app.ts'
import {
  big,
  call,
  compress,
  image,
  keeping,
  result,
  small,
  text,
  toolMessage,
  user,
} from './conversation.ts'

describe('POST /v1/compress writes smaller', () => {
  it.each<[string, unknown, unknown]>([
    ['an OpenAI tool message', toolMessage(big), toolMessage(small)],
    ['its text parts', toolMessage([text(big)]), toolMessage([text(small)])],
    [
      'a function message',
      { role: 'function', name: 'list', content: big },
      { role: 'function', name: 'list', content: small },
    ],
    ['an Anthropic tool result', user(result(big)), user(result(small))],
    [
      'its text parts, beside others',
      user(
        text(big),
        result([image, text(big, { cache_control: { type: 'ephemeral' } }), { type: 'x' }]),
      ),
      user(
        text(big),
        result([image, text(small, { cache_control: { type: 'ephemeral' } }), { type: 'x' }]),
      ),
    ],
    [
      'a tool result in a tool message',
      toolMessage([result([text(big)])]),
      toolMessage([result([text(small)])]),
    ],
    [
      'an error, without loss',
      user(result(big, { is_error: true })),
      user(result(small, { is_error: true })),
    ],
  ])('%s', async (_, before, after) => {
    const answer = await compress({ messages: [before], model: 'gpt-4o' })
    expect(answer.messages).toEqual([after])
    const { baseline, final } = encode({ content: big, model: 'gpt-4o' }).tokens
    expect(answer.tokens_saved).toBe(baseline - final)
    expect(answer.compression_ratio).toBe(answer.tokens_after / answer.tokens_before)
    expect(answer.transforms_applied).toEqual(['tree@2'])
    expect(answer.ccr_hashes).toEqual([])
  })

  it('what decodes to the very value', async () => {
    const { messages } = await compress({ messages: [toolMessage(big)] })
    const { format } = encode({ content: big })
    const content = String(messages[0]?.['content'])
    expect(JSON.parse(decode({ content, format }).content)).toEqual(JSON.parse(big))
  })

  it('texts of users and of the system only on request', async () => {
    const messages = [
      { role: 'system', content: big },
      { role: 'developer', content: big },
      user(text(big)),
      { role: 'assistant', content: big },
    ]
    expect((await compress({ messages })).messages).toEqual(messages)
    const asked = { compress_user_messages: true, compress_system_messages: true, other: 1 }
    const answer = await compress({ messages, config: asked, token_budget: 10 }, keeping())
    expect(answer.messages).toEqual([
      { role: 'system', content: small },
      { role: 'developer', content: small },
      user(text(small)),
      { role: 'assistant', content: big },
    ])
  })
})

describe('POST /v1/compress leaves alone', () => {
  it.each<[string, unknown]>([
    ['prose', toolMessage('All went well, and nothing can be shorter.')],
    ['null', toolMessage(null)],
    ['no content', { role: 'tool' }],
    ['numbers', toolMessage(12)],
    ['an object', toolMessage({ text: big })],
    [
      'parts that are none',
      toolMessage([null, 1, 'x', [text(big)], { type: 'text' }, { type: 'text', text: 1 }]),
    ],
    ['a tool result without content', user(result(undefined), result(null), result(7))],
    [
      'other parts',
      user(image, { type: 'document', text: big }, { type: 'thinking', thinking: big }),
    ],
    ['a role that is none', { role: 7, content: big }],
    ['a role that objects have', { role: '__proto__', content: big }],
    ['no fields', {}],
  ])('%s', async (_, message) => {
    const messages = JSON.parse(JSON.stringify([message]))
    const answer = await compress({ messages })
    expect(answer.messages).toEqual(messages)
    expect(answer).toMatchObject({ tokens_saved: 0, compression_ratio: 1, transforms_applied: [] })
  })

  it('calls that are of no shape', async () => {
    const calls = [
      null,
      1,
      { id: 'c1' },
      { id: 1, function: { name: 'x' } },
      { id: 'c1', function: 2 },
    ]
    const messages = [{ role: 'assistant', content: 1, tool_calls: calls }, { tool_calls: {} }]
    expect((await compress({ messages })).messages).toEqual(messages)
  })

  it('originals that were fetched back, under any prefix', async () => {
    const messages = [
      call('c1', 'headroom_retrieve'),
      toolMessage(big),
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 't1', name: 'mcp__sidecar__headroom_retrieve', input: {} },
        ],
      },
      user(result(big)),
    ]
    expect((await compress({ messages, token_budget: 20 }, keeping())).messages).toEqual(messages)
    // The same ids name other calls from there on.
    const again = await compress({ messages: [...messages, call('c1'), toolMessage(big)] })
    expect(again.messages.at(-1)).toEqual(toolMessage(small))
  })

  it.each(['x-headroom-bypass', 'X-Haversack-Bypass'])('all with %s', async header => {
    const messages = [toolMessage(big)]
    const body = { messages, token_budget: 5 }
    const answer = await compress(body, keeping(), { [header]: 'true' })
    expect(answer).toEqual({
      messages,
      tokens_before: encode({ content: big }).tokens.baseline,
      tokens_after: answer.tokens_before,
      tokens_saved: 0,
      compression_ratio: 1,
      transforms_applied: [],
      ccr_hashes: [],
    })
    expect((await compress(body, keeping(), { [header]: 'false' })).tokens_saved).toBeGreaterThan(0)
  })

  it('spelling, order and names of what else a message has', async () => {
    const odd = `{"n":1.0,"big":12345678901234567890,"e":1E400,"z":-0,"__proto__":{"a":[0.10]},"a":"é"}`
    const body = `{"messages":[{"x":${odd},"content":${JSON.stringify(big)},"role":"tool","y":${odd}}],"token_budget":1e5}`
    const response = await testApp().post('/v1/compress', body)
    const written = `{"messages":[{"x":${odd},"content":${JSON.stringify(small)},"role":"tool","y":${odd}}],`
    expect((await response.text()).slice(0, written.length)).toBe(written)
  })

  it('numbers of a request whose answer is MessagePack', async () => {
    const body = '{"messages":[{"role":"user","n":1.0}]}'
    const response = await testApp().post('/v1/compress', body, { accept: 'application/msgpack' })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(response.headers.get('content-type')).toBe('application/msgpack')
    expect(bytes.includes('rawJSON')).toBe(false)
  })
})

describe('POST /v1/compress counts', () => {
  it('every text, and nothing else', async () => {
    const messages = [
      { role: 'system', content: 'one two three' },
      user(text('four five'), image, { type: 'other', text: 'not this' }),
      call('c1'),
      toolMessage('six seven'),
      { role: 'assistant', content: 'eight', reasoning: 'nor this' },
    ]
    const words = ['one two three', 'four five', 'six seven', 'eight']
    const tokens = words.map(content => encode({ content }).tokens.baseline)
    const { tokens_before } = await compress({ messages })
    expect(tokens_before).toBe(tokens.reduce((sum, n) => sum + n))
  })

  it('in the tokens of the model', async () => {
    const messages = [toolMessage(big)]
    for (const model of ['gpt-4o', 'gpt-4', 'claude-sonnet-4-6', 'my-alias']) {
      const { baseline, final } = encode({ content: big, model }).tokens
      expect(await compress({ messages, model })).toMatchObject({
        tokens_before: baseline,
        tokens_after: final,
      })
    }
  })

  it('no messages have no tokens', async () => {
    expect(await compress({ messages: [], model: null })).toMatchObject({
      messages: [],
      tokens_before: 0,
      compression_ratio: 1,
    })
  })
})

describe('POST /v1/compress refuses', () => {
  it.each<[string, string, string]>([
    ['no messages', '{}', 'messages'],
    ['messages that are no list', '{"messages":{}}', 'messages'],
    ['a message that is no object', '{"messages":[{},"x"]}', 'messages.1'],
    ['a message that is a list', '{"messages":[[]]}', 'messages.0'],
    ['a budget that is no number', '{"messages":[],"token_budget":"9"}', 'token_budget'],
    ['a negative budget', '{"messages":[],"token_budget":-1}', 'token_budget'],
    ['a model that is no text', '{"messages":[],"model":1}', 'model'],
    ['config that is no object', '{"messages":[],"config":1}', 'config'],
  ])('%s', async (_, body, path) => {
    const response = await testApp().post('/v1/compress', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
  })

  it.each<[string, string]>([
    ['deep nesting', `{"messages":[{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}]}`],
    ['very many messages', `{"messages":[${'{},'.repeat(30_000)}{}]}`.replaceAll('{}', '[]')],
    ['no JSON', '{"messages":[}'],
    ['a list', '[]'],
    ['an unknown tokenizer', '{"messages":[],"tokenizer":"x"}'],
  ])('%s', async (_, body) => {
    const response = await testApp().post('/v1/compress', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_request' })
  })
})
