import { describe, expect, it } from 'vitest'
import {
  configuredHeaders,
  headerValue,
  mirrorHeaders,
} from '../../../../src/mcp/upstream/http-headers.ts'

const wrapped = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

describe('a value', () => {
  it.each(['a', 'a b', '~!', '=?base64?', '=?base64?x'])('%j is plain', text => {
    expect(headerValue(text)).toBe(text)
  })

  it.each([
    '',
    ' a',
    'a ',
    '\ta',
    'a\tb',
    'é',
    'a\nb',
    'a\r\nX: y',
    '\x7f',
    '=?base64?eA==?=',
    '🙂',
  ])('%j is wrapped', text => {
    expect(headerValue(text)).toBe(wrapped(text))
  })
})

describe('headers that repeat the body', () => {
  const of = (method: string, params: string | null) =>
    mirrorHeaders({
      id: 1,
      method,
      params: params === null ? null : Buffer.from(params),
      message: Buffer.alloc(0),
      mirrored: {},
    })

  it.each([
    ['tools/call', '{"name":"a","uri":"b"}', 'a'],
    ['prompts/get', '{"name":"\\u0061"}', 'a'],
    ['resources/read', '{"name":"a","uri":"b://c"}', 'b://c'],
    ['tasks/get', '{"taskId":"t"}', 't'],
  ])('name what %s of %s is about', (method, params, name) => {
    expect(of(method, params)).toEqual({ 'mcp-method': method, 'mcp-name': name })
  })

  it.each([
    ['tools/list', '{"name":"a"}'],
    ['tools/call', null],
    ['tools/call', '{}'],
    ['tools/call', '{"name":1}'],
    ['tools/call', '{"name":"a","name":"b"}'],
  ])('name nothing of %s of %s', (method, params) => {
    expect(of(method, params)).toEqual({ 'mcp-method': method })
  })
})

it('configured headers do not change what a request is', () => {
  const headers = {
    Authorization: 'a',
    'X-Key': 'b',
    Host: 'c',
    'Content-Length': '1',
    'MCP-Session-Id': 'd',
    'mcp-protocol-version': 'e',
  }
  expect(configuredHeaders(headers)).toEqual({ authorization: 'a', 'x-key': 'b' })
})
