import { describe, expect, it } from 'vitest'
import {
  errorOutcome,
  readMessage,
  writeNotification,
  writeRequest,
  writeResponse,
} from '../../../src/mcp/json-rpc.ts'

const read = (text: string) => readMessage(Buffer.from(text))
const text = (bytes: Uint8Array | null | undefined) => bytes && Buffer.from(bytes).toString()

describe('a message', () => {
  it('keeps ids and parameters as they are spelled, in any order of members', () => {
    const request = read(
      '{ "params" : {"n":1.0,"big":12345678901234567890} ,"id":1e2, "method":"a/b","jsonrpc":"2.0"}',
    )
    if (request?.kind !== 'request') throw new Error('no request')
    expect(request.method).toBe('a/b')
    expect(text(request.id)).toBe('1e2')
    expect(text(request.params)).toBe('{"n":1.0,"big":12345678901234567890}')
    expect(text(writeRequest(request.id, request.method, request.params))).toBe(
      '{"jsonrpc":"2.0","id":1e2,"method":"a/b","params":{"n":1.0,"big":12345678901234567890}}',
    )
  })

  it.each([
    ['{"jsonrpc":"2.0","method":"m"}', 'notification'],
    ['{"jsonrpc":"2.0","id":"x","method":"m"}', 'request'],
    ['{"result":{},"id":-1,"jsonrpc":"2.0"}', 'response'],
    ['{"jsonrpc":"2.0","id":null,"error":{}}', 'response'],
    ['{"jsonrpc":"2.0","error":{}}', 'response'],
  ])('%s is a %s', (message, kind) => {
    expect(read(message)?.kind).toBe(kind)
  })

  it.each([
    ['no JSON', '{"jsonrpc":"2.0"'],
    ['a batch', '[{"jsonrpc":"2.0","method":"m"}]'],
    ['another version', '{"jsonrpc":"1.0","method":"m"}'],
    ['a member that is there twice', '{"jsonrpc":"2.0","method":"m","id":1,"id":2}'],
    ['an escaped name that is there twice', '{"jsonrpc":"2.0","method":"m","m\\u0065thod":"n"}'],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"m"}'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"m"}'],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":1}'],
    ['parameters that are a list', '{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}'],
    ['a result and an error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}'],
    ['neither of them', '{"jsonrpc":"2.0","id":1}'],
    ['a result that is a text', '{"jsonrpc":"2.0","id":1,"result":"x"}'],
    ['a result of no request', '{"jsonrpc":"2.0","id":null,"result":{}}'],
    ['a byte that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('latin1')],
  ])('is refused: %s', (_, message) => {
    expect(readMessage(Buffer.from(message, 'latin1'))).toBeNull()
  })

  it('can be nested deeply, but not for ever', () => {
    const nested = (depth: number) =>
      read(`{"jsonrpc":"2.0","id":1,"result":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`)
    expect(nested(9_000)).not.toBeNull()
    expect(nested(200_000)).toBeNull()
  })

  it('is written as JSON whatever its method holds', () => {
    expect(text(writeNotification('a"\n', null))).toBe('{"jsonrpc":"2.0","method":"a\\"\\n"}')
    expect(text(writeResponse(null, errorOutcome(-32700, 'no "JSON"')))).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no \\"JSON\\""}}',
    )
  })
})
