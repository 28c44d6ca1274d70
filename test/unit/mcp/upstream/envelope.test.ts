import { describe, expect, it } from 'vitest'
import { prepareParams } from '../../../../src/mcp/upstream/envelope.ts'

const CLAIMS = { capabilities: Buffer.from('{"c":1.0}'), clientInfo: Buffer.from('{"i":1.0}') }
const M = 'io.modelcontextprotocol/'
const ENVELOPE = `"${M}protocolVersion":"V","${M}clientCapabilities":{"c":1.0},"${M}clientInfo":{"i":1.0}`

function prepare(params: string | null, version: string | null) {
  const bytes = params === null ? null : Buffer.from(params)
  const prepared = prepareParams(bytes, 7, version, CLAIMS)
  return prepared && [String(prepared.params), String(prepared.clientToken)]
}

describe('parameters for a legacy server', () => {
  it.each([
    [null, 'null', 'null'],
    ['{"a":1.0}', '{"a":1.0}', 'null'],
    ['{"_meta":{ "x":1.0 }}', '{"_meta":{ "x":1.0 }}', 'null'],
    [
      '{"_meta":{"progressToken":1.0,"x":1e2},"a":[]}',
      '{"_meta":{"progressToken":7,"x":1e2},"a":[]}',
      '1.0',
    ],
    [
      `{"_meta":{"${M}protocolVersion":"V","x":1,"${M}logLevel":"info"}}`,
      '{"_meta":{"x":1}}',
      'null',
    ],
  ])('of %s are %s', (params, expected, token) => {
    expect(prepare(params, null)).toEqual([expected, token])
  })
})

describe('parameters for a modern server', () => {
  it.each([
    [null, `{"_meta":{${ENVELOPE}}}`, 'null'],
    ['{"a":1.0}', `{"a":1.0,"_meta":{${ENVELOPE}}}`, 'null'],
    ['{"_meta":{"x":1.0}}', `{"_meta":{"x":1.0,${ENVELOPE}}}`, 'null'],
    ['{"_meta":{"progressToken":"p"}}', `{"_meta":{"progressToken":7,${ENVELOPE}}}`, '"p"'],
    [
      `{"_meta":{"${M}clientCapabilities":{},"${M}protocolVersion":"old"}}`,
      `{"_meta":{"${M}clientCapabilities":{},"${M}protocolVersion":"V","${M}clientInfo":{"i":1.0}}}`,
      'null',
    ],
  ])('of %s are %s', (params, expected, token) => {
    expect(prepare(params, 'V')).toEqual([expected, token])
  })
})

it.each([
  '{"_meta":{},"_meta":{}}',
  '{"_meta":[]}',
  '{"_meta":{"progressToken":1,"progressToken":2}}',
  `{"_meta":{"${M}protocolVersion":1,"${M}protocolVersion":2}}`,
])('refuses %s', params => {
  expect(prepare(params, null)).toBeNull()
  expect(prepare(params, 'V')).toBeNull()
})
