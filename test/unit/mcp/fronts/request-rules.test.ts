import { describe, expect, it } from 'vitest'
import { headerText } from '../../../../src/mcp/fronts/modern/header-text.ts'
import { checkMirrors } from '../../../../src/mcp/fronts/modern/mirrored-headers.ts'
import { readModernMessage } from '../../../../src/mcp/fronts/modern/read-message.ts'
import { checkRequest, isModernRequest } from '../../../../src/mcp/fronts/modern/request-rules.ts'
import { headerValue } from '../../../../src/mcp/upstream/http-headers.ts'

const M = 'io.modelcontextprotocol/'
const META = { [`${M}protocolVersion`]: '2026-07-28', [`${M}clientCapabilities`]: {} }
const HEADERS = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'a',
}

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))
const reading = (headers: Record<string, string>) => (name: string) => headers[name] ?? null

/** The code and data of the refusal; `null` if there is none. */
function refusal(params: object, headers: Record<string, string> | null, method = 'tools/call') {
  const checked = checkRequest({ method, params: bytes(params) }, headers && reading(headers))
  if (checked.kind === 'accepted' || checked.outcome.kind === 'result') return null
  return JSON.parse(String(checked.outcome.error))
}

describe('a request of 2026-07-28', () => {
  it('is accepted with its envelope and its headers', () => {
    expect(refusal({ name: 'a', _meta: META }, HEADERS)).toBeNull()
    expect(refusal({ name: 'a', _meta: META }, null)).toBeNull()
    const spaced = { ...HEADERS, 'mcp-name': ' a\t', 'mcp-method': ' tools/call ' }
    expect(refusal({ name: 'a', _meta: META }, spaced)).toBeNull()
  })

  const other = { ...META, [`${M}protocolVersion`]: '2031-01-01' }
  it.each<[string, object, Record<string, string>, number]>([
    ['no _meta', { name: 'a' }, HEADERS, -32602],
    ['no version', { _meta: { [`${M}clientCapabilities`]: {} } }, HEADERS, -32602],
    ['no capabilities', { _meta: { [`${M}protocolVersion`]: '2026-07-28' } }, HEADERS, -32602],
    [
      'capabilities that are a list',
      { _meta: { ...META, [`${M}clientCapabilities`]: [] } },
      HEADERS,
      -32602,
    ],
    [
      'a version that is a number',
      { _meta: { ...META, [`${M}protocolVersion`]: 2026 } },
      HEADERS,
      -32602,
    ],
    [
      'another revision',
      { _meta: other },
      { ...HEADERS, 'mcp-protocol-version': '2031-01-01' },
      -32022,
    ],
    ['another version in the header', { _meta: other }, HEADERS, -32020],
    [
      'another method in the header',
      { name: 'a', _meta: META },
      { ...HEADERS, 'mcp-method': 'tools/Call' },
      -32020,
    ],
    ['another method before no _meta', { name: 'a' }, { ...HEADERS, 'mcp-method': 'x' }, -32020],
    [
      'no version in a header',
      { name: 'a', _meta: META },
      { 'mcp-method': 'tools/call', 'mcp-name': 'a' },
      -32020,
    ],
    [
      'no method in a header',
      { name: 'a', _meta: META },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'a' },
      -32020,
    ],
    [
      'no name in a header',
      { name: 'a', _meta: META },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
      -32020,
    ],
    ['another name in the header', { name: 'b', _meta: META }, HEADERS, -32020],
    ['a name in the header only', { _meta: META }, HEADERS, -32020],
    [
      'bad Base64 in the header',
      { name: 'é', _meta: META },
      { ...HEADERS, 'mcp-name': '=?base64?w6k?=' },
      -32020,
    ],
  ])('is refused with %s', (_, params, headers, code) => {
    expect(refusal(params, headers)?.code).toBe(code)
  })

  it('names what it supports, and what differs', () => {
    const headers = { ...HEADERS, 'mcp-protocol-version': '2031-01-01' }
    expect(refusal({ _meta: other }, headers).data).toEqual({
      supported: ['2026-07-28'],
      requested: '2031-01-01',
    })
    expect(refusal({ name: 'b', _meta: META }, HEADERS).data).toEqual({
      mismatch: { header: 'a', body: 'b' },
    })
    const long = refusal({ name: 'b'.repeat(5_000_000), _meta: META }, HEADERS)
    expect(JSON.stringify(long).length).toBeLessThan(1_000)
  })

  it('repeats in its header what each method names', () => {
    const of = (method: string, name: string) => ({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': name,
    })
    const read = { uri: 'file:///a%20b', _meta: META }
    expect(refusal(read, of('resources/read', 'file:///a%20b'), 'resources/read')).toBeNull()
    expect(refusal(read, of('resources/read', 'file:///a b'), 'resources/read').code).toBe(-32020)
    expect(refusal({ taskId: 't', _meta: META }, of('tasks/get', 'u'), 'tasks/get').code).toBe(
      -32020,
    )
    // Methods without a name need no such header, whatever they are called.
    const list = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'toString' }
    expect(refusal({ _meta: META }, list, 'toString')).toBeNull()
  })

  it('is refused if another parser might read another one', () => {
    const twice = Buffer.from('{"name":"a","name":"b","_meta":{}}')
    const checked = checkRequest({ method: 'tools/call', params: twice }, reading(HEADERS))
    expect(checked).toMatchObject({ kind: 'refused' })
  })
})

describe('the era of a request', () => {
  it.each<[string, object, string | null, boolean]>([
    ['its _meta', { _meta: META }, null, true],
    ['its header', {}, '2026-07-28', true],
    ['the header of a later revision', {}, '2027-01-01', true],
    ['an earlier revision in the header', {}, '2025-11-25', false],
    ['nothing', {}, null, false],
    ['no date', {}, 'zzzz', false],
  ])('is told by %s', (_, params, version, expected) => {
    const header = reading(version === null ? {} : { 'mcp-protocol-version': version })
    expect(isModernRequest(bytes(params), header)).toBe(expected)
  })
})

describe('bytes that are no message', () => {
  it.each([
    ['{', -32700, null],
    ['[]', -32600, null],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"1.0","id":"x","method":"ping"}', -32600, '"x"'],
    ['{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}', -32600, null],
    ['7', -32600, null],
  ])('%s is refused', (text, code, id) => {
    const read = readModernMessage(Buffer.from(text))
    if (read.kind !== 'unreadable' || read.outcome.kind !== 'error') throw new Error('it was read')
    expect(JSON.parse(String(read.outcome.error)).code).toBe(code)
    expect(read.id?.toString() ?? null).toBe(id)
  })
})

describe('the text of a header', () => {
  it.each(['plain', 'é', ' outer ', '', '=?base64?eA==?=', 'a\r\nb', '=?base64?'])(
    'is what was written: %j',
    text => expect(headerText(headerValue(text))).toBe(text),
  )

  it.each(['=?base64?eA?=', '=?base64?eB==?=', '=?base64?/w==?=', '=?base64?e A==?='])(
    'is nothing in %s',
    value => expect(headerText(value)).toBeNull(),
  )
})

describe('headers that repeat parameters', () => {
  const property = (type: string, header: string) => ({ type, 'x-mcp-header': header })
  const tool = bytes({
    name: 't',
    inputSchema: {
      type: 'object',
      properties: {
        region: property('string', 'Region'),
        count: property('integer', 'Count'),
        deep: { type: 'object', properties: { on: property('boolean', 'On') } },
      },
    },
  })
  const fault = (args: string, headers: Record<string, string>) => {
    const params = Buffer.from(`{"name":"t","arguments":${args}}`)
    return checkMirrors(tool, params, reading(headers)) !== null
  }

  it.each<[string, Record<string, string>]>([
    ['{"region":"eu"}', { 'mcp-param-region': 'eu' }],
    ['{"region":"é"}', { 'mcp-param-region': '=?base64?w6k=?=' }],
    ['{"count":1.0}', { 'mcp-param-count': '1' }],
    ['{"deep":{"on":true}}', { 'mcp-param-on': 'true' }],
    ['{"region":null}', {}],
    ['{}', {}],
  ])('match %s', (args, headers) => expect(fault(args, headers)).toBe(false))

  it.each<[string, Record<string, string>]>([
    ['{"region":"eu"}', {}],
    ['{"region":"eu"}', { 'mcp-param-region': 'us' }],
    ['{}', { 'mcp-param-region': 'eu' }],
    ['{"region":null}', { 'mcp-param-region': 'null' }],
    ['{"region":"1.0"}', { 'mcp-param-region': '1' }],
    ['{"count":12345678901234567890}', { 'mcp-param-count': '12345678901234567891' }],
    ['{"count":0}', { 'mcp-param-count': '' }],
    ['{"deep":{"on":true}}', { 'mcp-param-on': 'false' }],
  ])('differ from %s', (args, headers) => expect(fault(args, headers)).toBe(true))
})
