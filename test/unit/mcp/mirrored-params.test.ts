import { describe, expect, it } from 'vitest'
import { hasValidMirrors, mirrorsOf } from '../../../src/mcp/catalogue/mirrored-params.ts'

const tool = (inputSchema: unknown) => Buffer.from(JSON.stringify({ name: 't', inputSchema }))
const X = { type: 'string', 'x-mcp-header': 'X' }

describe('a tool with headers for its parameters', () => {
  it.each<[string, object]>([
    ['none', { type: 'object', properties: { a: { type: 'string' } } }],
    ['one', { properties: { a: X } }],
    ['one below another property', { properties: { a: { properties: { b: X } } } }],
    ['two of two names', { properties: { a: X, b: { ...X, 'x-mcp-header': 'Y' } } }],
    ['a property of that name', { properties: { 'x-mcp-header': { type: 'string' } } }],
    ['a value that looks like one', { properties: { a: { default: X, enum: [X] } } }],
  ])('is offered: %s', (_, schema) => expect(hasValidMirrors(tool(schema))).toBe(true))

  it.each<[string, object]>([
    ['an object', { properties: { a: { ...X, type: 'object' } } }],
    ['a number', { properties: { a: { ...X, type: 'number' } } }],
    ['no type', { properties: { a: { 'x-mcp-header': 'X' } } }],
    ['the root', { 'x-mcp-header': 'X', type: 'string' }],
    ['items', { properties: { a: { type: 'array', items: X } } }],
    ['an alternative', { properties: { a: { anyOf: [X] } } }],
    ['a definition', { $defs: { a: X } }],
    ['the same name in other letters', { properties: { a: X, b: { ...X, 'x-mcp-header': 'x' } } }],
    ['a name with a space', { properties: { a: { ...X, 'x-mcp-header': 'X Y' } } }],
    ['an empty name', { properties: { a: { ...X, 'x-mcp-header': '' } } }],
    ['no text', { properties: { a: { ...X, 'x-mcp-header': 7 } } }],
  ])('is not offered: %s', (_, schema) => expect(hasValidMirrors(tool(schema))).toBe(false))

  it('repeats what the arguments hold, in their own spelling', () => {
    const schema = { properties: { a: X, n: { type: 'integer', 'x-mcp-header': 'N' } } }
    const params = Buffer.from('{"arguments":{"a":"\\u0061","n":12345678901234567890}}')
    expect(mirrorsOf(tool(schema), params)).toEqual({
      'mcp-param-x': 'a',
      'mcp-param-n': '12345678901234567890',
    })
    expect(mirrorsOf(tool(schema), Buffer.from('{"arguments":{"a":null}}'))).toEqual({})
    expect(mirrorsOf(tool(schema), Buffer.from('{}'))).toEqual({})
  })
})
