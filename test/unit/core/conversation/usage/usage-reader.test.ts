import { EventStreamCodec } from '@smithy/eventstream-codec'
import { describe, expect, it } from 'vitest'
import {
  type AnswerForm,
  createUsageReader,
} from '../../../../../src/core/conversation/usage/usage-reader.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import {
  ANTHROPIC_EVENTS,
  ANTHROPIC_FOUND,
  ANTHROPIC_MESSAGE,
  ANTHROPIC_USAGE,
  CHAT_COMPLETION,
  CHAT_EVENTS,
  CHAT_FOUND,
  CHAT_USAGE,
  events,
  RESPONSE,
  RESPONSE_FOUND,
  RESPONSE_USAGE,
  responseEvents,
} from './answers.ts'

function found(route: RouteName, form: AnswerForm, answer: string | object) {
  const reader = createUsageReader(route, form)
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  for (const byte of Buffer.from(text)) reader.read(Uint8Array.of(byte))
  const whole = createUsageReader(route, form)
  whole.read(Buffer.from(text))
  expect(whole.found).toEqual(reader.found)
  return whole.found
}

const message = (usage: object | null) =>
  found('anthropic_messages', 'json', { ...ANTHROPIC_MESSAGE, usage })?.usage
const completion = (usage: object) =>
  found('openai_chat', 'json', { ...CHAT_COMPLETION, usage })?.usage

describe('what an answer used', () => {
  it('is read from a message, not from what the message is about', () => {
    expect(found('anthropic_messages', 'json', ANTHROPIC_MESSAGE)).toEqual(ANTHROPIC_FOUND)
    const text = JSON.stringify(ANTHROPIC_MESSAGE, null, 2)
    expect(found('anthropic_messages', 'json', text)).toEqual(ANTHROPIC_FOUND)
  })

  it('is read from the events of a message; later figures hold, null is none', () => {
    const text = events(ANTHROPIC_EVENTS)
    expect(found('anthropic_messages', 'events', text)).toEqual(ANTHROPIC_FOUND)
    expect(found('anthropic_messages', 'events', text.replaceAll('\n', '\r\n'))).toEqual(
      ANTHROPIC_FOUND,
    )
  })

  it('is as far known as a broken-off stream of events came', () => {
    const text = events(ANTHROPIC_EVENTS)
    const cut = text.slice(0, text.indexOf('event: message_delta'))
    const { usage } = ANTHROPIC_FOUND
    const expected = { ...ANTHROPIC_FOUND, usage: { ...usage, output: 1 } }
    expect(found('anthropic_messages', 'events', cut)).toEqual(expected)
  })

  it('is read from a chat completion, whose prompt has what was cached in it', () => {
    expect(found('openai_chat', 'json', CHAT_COMPLETION)).toEqual(CHAT_FOUND)
    expect(found('openai_chat', 'events', CHAT_EVENTS)).toEqual(CHAT_FOUND)
  })

  it('is not known of a chat stream that was not asked for it', () => {
    const { usage: _, ...chunk } = CHAT_COMPLETION
    expect(found('openai_chat', 'events', events([chunk as object, chunk as object]))).toBeNull()
  })

  it.each(['completed', 'incomplete', 'failed'])('is read from a response that is %s', last => {
    expect(found('openai_responses', 'json', { ...RESPONSE, status: last })).toEqual(RESPONSE_FOUND)
    expect(found('openai_responses', 'events', events(responseEvents(last)))).toEqual(
      RESPONSE_FOUND,
    )
    const begun = responseEvents(last).slice(0, -1)
    expect(found('openai_responses', 'events', events(begun))).toBeNull()
  })

  it('takes all writes for short ones where the message does not tell them apart', () => {
    const { cache_creation: _, ...usage } = ANTHROPIC_USAGE
    expect(message(usage)).toMatchObject({ cache_write: 1_200, cache_write_long: 0 })
    const { cache_creation_input_tokens: __, ...parts } = ANTHROPIC_USAGE
    expect(message(parts)).toMatchObject({ cache_write: 1_000, cache_write_long: 200 })
  })

  it('is nothing where the tokens of the prompt are not said, or are none', () => {
    expect(message(null)).toBeUndefined()
    expect(message({ ...ANTHROPIC_USAGE, input_tokens: null })).toBeUndefined()
    for (const input_tokens of [-1, 1.5, 1e300, '', ' ', 'many', true, [3], { n: 3 }]) {
      expect(message({ ...ANTHROPIC_USAGE, input_tokens }), String(input_tokens)).toBeUndefined()
    }
    expect(found('anthropic_messages', 'json', { input_tokens: 2_095 })).toBeNull()
  })

  it('never has more in parts than the prompt has', () => {
    const cached = { ...CHAT_USAGE, prompt_tokens_details: { cached_tokens: 9_999 } }
    expect(completion(cached)).toMatchObject({ uncached: 0, cache_read: 2_006 })
    const both = { cached_tokens: 2_000, cache_write_tokens: 100 }
    expect(completion({ ...CHAT_USAGE, prompt_tokens_details: both })).toMatchObject({
      uncached: 0,
      cache_read: 2_000,
      cache_write: 6,
    })
    const { input_tokens_details, ...usage } = RESPONSE_USAGE
    const cache_write_tokens_details = { ttl_12h_tokens: 5_000, ttl_30m_tokens: 0 }
    const details = { ...input_tokens_details, cache_write_tokens_details }
    const response = { ...RESPONSE, usage: { ...usage, input_tokens_details: details } }
    expect(found('openai_responses', 'json', response)?.usage).toMatchObject({
      uncached: 904,
      cache_write: 0,
      cache_write_long: 1_024,
    })
  })

  it('is found behind any nesting and any length, in a moment', () => {
    const reader = createUsageReader('anthropic_messages', 'json')
    reader.read(Buffer.from('{"content":'))
    const open = Buffer.from('[{"usage":'.repeat(10_000))
    for (let round = 0; round < 20; round += 1) reader.read(open)
    for (let round = 0; round < 20; round += 1) reader.read(Buffer.from('}]'.repeat(10_000)))
    reader.read(Buffer.from(`,"${'k'.repeat(1_000_000)}":"${'\\"'.repeat(1_000_000)}"`))
    reader.read(Buffer.from(',"usage":{"input_tokens":3,"output_tokens":4}}'))
    expect(reader.found?.usage).toMatchObject({ uncached: 3, output: 4 })
  })
})

const GEMINI_USAGE = {
  promptTokenCount: 1_000,
  cachedContentTokenCount: 600,
  toolUsePromptTokenCount: 30,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 5,
  totalTokenCount: 1_055,
}
const GEMINI_ANSWER = {
  candidates: [{ content: { parts: [{ text: '"usageMetadata":{"promptTokenCount":1}' }] } }],
  usageMetadata: GEMINI_USAGE,
  modelVersion: 'gemini-2.5-pro',
}
const GEMINI_FOUND = {
  model: 'gemini-2.5-pro',
  usage: { uncached: 430, cache_read: 600, cache_write: 0, cache_write_long: 0, output: 25 },
}

describe('what an answer of Gemini used', () => {
  it('is read from an answer, from its events, and from a list of answers', () => {
    const early = { ...GEMINI_ANSWER, usageMetadata: { promptTokenCount: 1_000 } }
    const all = [early, GEMINI_ANSWER]
    expect(found('gemini_generate', 'json', GEMINI_ANSWER)).toEqual(GEMINI_FOUND)
    expect(found('gemini_generate', 'json', all)).toEqual(GEMINI_FOUND)
    expect(found('gemini_generate', 'json', JSON.stringify(all, null, 2))).toEqual(GEMINI_FOUND)
    expect(found('gemini_generate', 'events', events(all))).toEqual(GEMINI_FOUND)
    expect(found('gemini_generate', 'json', '[[{"usageMetadata":{}}],')).toBeNull()
  })
})

describe('what an answer of Bedrock used', () => {
  const usage = {
    inputTokens: 30,
    outputTokens: 7,
    totalTokens: 1_137,
    cacheReadInputTokens: 1_000,
    cacheWriteInputTokens: 100,
  }
  const ofConverse = {
    model: undefined,
    usage: { uncached: 30, cache_read: 1_000, cache_write: 100, cache_write_long: 0, output: 7 },
  }

  it('is read from an answer of Converse', () => {
    expect(found('bedrock_converse', 'json', { output: {}, usage })).toEqual(ofConverse)
  })

  it('is read from the frames of Converse, however they are cut', () => {
    const frames = framesOf([{ delta: { text: 'usage' } }, { metrics: {}, usage }])
    expect(inFrames('bedrock_converse', frames)).toEqual(ofConverse)
  })

  it('is read from the events of a model that frames wrap', () => {
    const wrapped = ANTHROPIC_EVENTS.map(event => ({
      bytes: Buffer.from(JSON.stringify(event)).toString('base64'),
      p: 'abc',
    }))
    expect(inFrames('anthropic_messages', framesOf(wrapped))).toEqual(ANTHROPIC_FOUND)
    const long = { bytes: 'A'.repeat(100_000) }
    expect(inFrames('anthropic_messages', framesOf([long, ...wrapped]))).toEqual(ANTHROPIC_FOUND)
  })

  it('is none where the bytes are no frames', () => {
    expect(inFrames('bedrock_converse', Buffer.from('{"usage":{"inputTokens":1}}'))).toBeNull()
    // A frame that is shorter than its own headers; what follows cannot be found.
    const short = Buffer.alloc(20)
    short.writeUInt32BE(16, 0)
    short.writeUInt32BE(4, 4)
    const after = Buffer.concat([short, framesOf([{ usage }])])
    expect(inFrames('bedrock_converse', after)).toBeNull()
  })
})

const CODEC = new EventStreamCodec(
  bytes => Buffer.from(bytes).toString(),
  text => Buffer.from(text),
)

/** The events as Amazon's own codec writes them. */
function framesOf(payloads: readonly object[]): Buffer {
  const headers = { ':event-type': { type: 'string', value: 'chunk' } } as const
  const frames = payloads.map(payload =>
    CODEC.encode({ headers, body: Buffer.from(JSON.stringify(payload)) }),
  )
  return Buffer.concat(frames)
}

function inFrames(route: RouteName, frames: Buffer) {
  const reader = createUsageReader(route, 'frames')
  // The bytes belong to the caller, who writes over them.
  const cell = new Uint8Array(1)
  for (const byte of frames) {
    cell[0] = byte
    reader.read(cell)
  }
  const whole = createUsageReader(route, 'frames')
  whole.read(frames)
  expect(whole.found).toEqual(reader.found)
  return whole.found
}
