import { describe, expect, test } from 'vitest'
import {
  billedAs,
  isSigned,
  rewritableAs,
  wantsWebSocketConversation,
} from '../../../../src/http/proxy/rewritable-request.ts'
import { inContext } from '../http-context.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (headers: Record<string, string> = JSON_TYPE) => ({ method: 'POST', headers })
const shapeOf = (path: string) => inContext(post(), c => rewritableAs(c, path)?.shape)

describe('a body that can be rewritten', () => {
  test.each([
    ['/v1/messages', 'anthropic_messages'],
    ['/v1/messages/count_tokens', 'anthropic_messages'],
    ['/v1beta2/messages', 'anthropic_messages'],
    ['/a/gateway/v1/messages?beta=true', 'anthropic_messages'],
    ['/v1/messages/', 'anthropic_messages'],
    ['/v1/messages/?beta=true', 'anthropic_messages'],
    ['/v1/messages//', undefined],
    ['/v1/chat/completions', 'openai_chat'],
    ['/chat/completions', 'openai_chat'],
    ['/v1/responses', 'openai_responses'],
    ['/v1/responses/compact', 'openai_responses'],
    ['/backend-api/codex/responses/input_tokens?x=/y', 'openai_responses'],
    ['/messages', undefined],
    ['/v1/threads/t/messages', undefined],
    ['/v1/messages/batches', undefined],
    ['/vx/messages', undefined],
    ['/v1/completions', undefined],
    ['/v1/chat/completions/x', undefined],
    ['/v1/responses/resp_1', undefined],
    ['/v1/files?path=/v1/messages', undefined],
  ])('%s: %s', async (path, shape) => {
    expect(await shapeOf(path)).toBe(shape)
  })

  test.each([
    ['/v1beta/models/gemini-2.5-pro:generateContent', 'gemini_generate', 'gemini-2.5-pro'],
    ['/v1/models/g:streamGenerateContent?alt=sse', 'gemini_generate', 'g'],
    ['/v1beta/tunedModels/t-1%3acountTokens', 'gemini_generate', 't-1'],
    ['/v1/publishers/google/models/g:generateContent', 'gemini_generate', 'g'],
    ['/v1/publishers/anthropic/models/c@1:streamRawPredict', 'anthropic_messages', 'c@1'],
    ['/v1/publishers/mistralai/models/m:rawPredict', undefined, undefined],
    ['/v1beta/models/g:embedContent', undefined, undefined],
    ['/model/us.anthropic.c-v1%3A0/converse', 'bedrock_converse', 'us.anthropic.c-v1:0'],
    ['/model/amazon.nova-pro-v1%3A0/converse-stream', 'bedrock_converse', 'amazon.nova-pro-v1:0'],
    ['/model/anthropic.c/invoke', 'anthropic_messages', 'anthropic.c'],
    ['/model/anthropic.c/invoke-with-response-stream', 'anthropic_messages', 'anthropic.c'],
    ['/model/arn%3Aaws%2Fanthropic.c%E0/invoke', 'anthropic_messages', 'arn:aws%2Fanthropic.c%E0'],
    ['/model/amazon.titan/invoke', undefined, undefined],
    ['/openai/deployments/d/chat/completions?api-version=1', 'openai_chat', undefined],
  ])('%s: %s of %s', async (path, shape, model) => {
    const found = await inContext(post(), c => rewritableAs(c, path))
    expect([found?.shape, found?.model]).toEqual([shape, model])
  })

  test.each([
    ['/v1/messages/count_tokens?beta=true', true],
    ['/v1/responses/input_tokens', true],
    ['/v1beta/models/g:countTokens', true],
    ['/v1/messages', undefined],
    ['/v1/responses/compact', undefined],
  ])('%s only counts tokens: %s', async (path, countsOnly) => {
    const found = await inContext(post(), c => rewritableAs(c, path))
    expect(found?.countsOnly).toBe(countsOnly)
    expect((await inContext(post(), c => billedAs(c, path))) === null).toBe(countsOnly === true)
  })

  test.each<[string | undefined, string | undefined, boolean]>([
    ['text/plain;charset=UTF-8', undefined, true],
    ['text/plain', 'identity', true],
    [undefined, undefined, true],
    ['application/json; charset=utf-8', 'Identity', true],
    ['application/json', 'identity, identity', true],
    ['text/plain; charset="iso-8859-1"', undefined, false],
    ['application/octet-stream', undefined, false],
    ['application/json', 'compress', false],
  ])('of type %s and coding %s: %s', async (type, encoding, isOne) => {
    const headers = {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    }
    const found = await inContext(post(headers), c => rewritableAs(c, '/v1/messages'))
    expect(found !== null).toBe(isOne)
    expect(found?.coding).toBeUndefined()
  })

  test('is decoded without what changes nothing', async () => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'identity, gzip' }
    const found = await inContext(post(headers), c => rewritableAs(c, '/v1/messages'))
    expect(found?.coding).toBe('gzip')
  })

  test('is not, if a signature covers it', async () => {
    const signed = (authorization: string) => inContext(post({ authorization }), isSigned)
    expect(await signed('AWS4-HMAC-SHA256 Credential=a/b, Signature=c')).toBe(true)
    expect(await signed('Bearer AWS4-HMAC')).toBe(false)
    expect(await inContext(post({}), isSigned)).toBe(false)
  })

  const as = (headers: Record<string, string>, method = 'POST') =>
    inContext({ method, headers }, c => rewritableAs(c, '/v1/messages'))

  test('is posted, and is JSON', async () => {
    const shape = 'anthropic_messages'
    expect(await as(JSON_TYPE)).toEqual({ shape })
    expect(await as({ 'content-type': 'Application/JSON; charset=utf-8' })).toEqual({ shape })
    expect(await as(JSON_TYPE, 'PUT')).toBeNull()
    expect(await as({ 'content-type': 'text/html' })).toBeNull()
  })

  test('may be compressed once, but not by its transfer', async () => {
    const shape = 'anthropic_messages'
    const coded = (coding: string) => as({ ...JSON_TYPE, 'content-encoding': coding })
    expect(await coded('GZip')).toEqual({ shape, coding: 'gzip' })
    expect(await coded('zstd')).toEqual({ shape, coding: 'zstd' })
    expect(await coded('gzip, br')).toBeNull()
    const sent = (transfer: string) => as({ ...JSON_TYPE, 'transfer-encoding': transfer })
    expect(await sent('Chunked')).toEqual({ shape })
    expect(await sent('gzip, chunked')).toBeNull()
  })
})

describe('a request that is billed', () => {
  test.each([
    ['POST', '/v1/messages?beta=true', 'anthropic_messages'],
    ['POST', '/v1/chat/completions', 'openai_chat'],
    ['POST', '/v1/responses/compact', 'openai_responses'],
    ['GET', '/v1/responses', null],
    ['POST', '/v1/messages/count_tokens', null],
    ['POST', '/v1/messages/count_tokens?x', null],
    ['POST', '/v1/responses/input_tokens', null],
    ['POST', '/v1/models', null],
    ['POST', '/v1beta/models/gemini-2.5-pro:generateContent', 'gemini_generate'],
    ['POST', '/v1beta/models/gemini-2.5-pro:countTokens', null],
    ['POST', '/v1beta/models/gemini-2.5-pro%3AcountTokens', null],
    ['POST', '/v1/p/anthropic/models/count-tokens:rawPredict', null],
  ])('%s %s: %s', async (method, path, shape) => {
    expect(await inContext({ method }, c => billedAs(c, path)?.shape ?? null)).toBe(shape)
  })
})

describe('a conversation over a WebSocket', () => {
  const HANDSHAKE = { upgrade: 'websocket', 'openai-beta': 'responses_websockets=2026-02-06' }
  const wants = (headers: Record<string, string>, method = 'GET', path = '/v1/responses?a') =>
    inContext({ method, headers }, c => wantsWebSocketConversation(c, path))

  test('is wanted by a handshake that says so', async () => {
    expect(await wants(HANDSHAKE)).toBe(true)
    expect(await wants({ ...HANDSHAKE, upgrade: ' WebSocket ' })).toBe(true)
    expect(await wants({ upgrade: 'websocket' })).toBe(true)
  })

  test.each([
    ['another method', HANDSHAKE, 'POST', '/v1/responses'],
    ['another path', HANDSHAKE, 'GET', '/v1/realtime'],
    ['a conversation of another API', HANDSHAKE, 'GET', '/v1/chat/completions'],
    ['another protocol', { ...HANDSHAKE, upgrade: 'h2c' }, 'GET', '/v1/responses'],
    ['no upgrade', { 'openai-beta': HANDSHAKE['openai-beta'] }, 'GET', '/v1/responses'],
  ])('is not wanted with %s', async (_, headers, method, path) => {
    expect(await wants(headers as Record<string, string>, method, path)).toBe(false)
  })
})
