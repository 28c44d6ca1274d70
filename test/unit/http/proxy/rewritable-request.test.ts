import { describe, expect, test } from 'vitest'
import {
  billedAs,
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

  const as = (headers: Record<string, string>, method = 'POST') =>
    inContext({ method, headers }, c => rewritableAs(c, '/v1/messages'))

  test('is posted, and is JSON', async () => {
    const shape = 'anthropic_messages'
    expect(await as(JSON_TYPE)).toEqual({ shape })
    expect(await as({ 'content-type': 'Application/JSON; charset=utf-8' })).toEqual({ shape })
    expect(await as(JSON_TYPE, 'PUT')).toBeNull()
    expect(await as({})).toBeNull()
    expect(await as({ 'content-type': 'text/plain' })).toBeNull()
  })

  test('may be compressed once, but not by its transfer', async () => {
    const shape = 'anthropic_messages'
    const coded = (coding: string) => as({ ...JSON_TYPE, 'content-encoding': coding })
    expect(await coded('GZip')).toEqual({ shape, coding: 'gzip' })
    expect(await coded('zstd')).toEqual({ shape, coding: 'zstd' })
    expect(await coded('gzip, br')).toBeNull()
    expect(await coded('identity')).toBeNull()
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
  ])('%s %s: %s', async (method, path, shape) => {
    expect(await inContext({ method }, c => billedAs(c, path))).toBe(shape)
  })
})

describe('a conversation over a WebSocket', () => {
  const HANDSHAKE = { upgrade: 'websocket', 'openai-beta': 'responses_websockets=2026-02-06' }
  const wants = (headers: Record<string, string>, method = 'GET', path = '/v1/responses?a') =>
    inContext({ method, headers }, c => wantsWebSocketConversation(c, path))

  test('is wanted by a handshake that says so', async () => {
    expect(await wants(HANDSHAKE)).toBe(true)
    expect(await wants({ ...HANDSHAKE, upgrade: ' WebSocket ' })).toBe(true)
    expect(await wants({ ...HANDSHAKE, 'openai-beta': 'x=1, responses_websockets=1' })).toBe(true)
  })

  test.each([
    ['another method', HANDSHAKE, 'POST', '/v1/responses'],
    ['another path', HANDSHAKE, 'GET', '/v1/realtime'],
    ['a conversation of another API', HANDSHAKE, 'GET', '/v1/chat/completions'],
    ['another protocol', { ...HANDSHAKE, upgrade: 'h2c' }, 'GET', '/v1/responses'],
    ['no upgrade', { 'openai-beta': HANDSHAKE['openai-beta'] }, 'GET', '/v1/responses'],
    ['another feature', { ...HANDSHAKE, 'openai-beta': 'realtime=v1' }, 'GET', '/v1/responses'],
    ['no feature', { upgrade: 'websocket' }, 'GET', '/v1/responses'],
  ])('is not wanted with %s', async (_, headers, method, path) => {
    expect(await wants(headers as Record<string, string>, method, path)).toBe(false)
  })
})
