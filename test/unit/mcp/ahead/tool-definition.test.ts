import { expect, it } from 'vitest'
import { toolDefinition } from '../../../../src/mcp/ahead/tool-definition.ts'

const read = (json: string) => toolDefinition(Buffer.from(json))

it('has the hints that are flags, and the schema', () => {
  const hints = '{"title": "x", "readOnlyHint": true, "openWorldHint": false, "idempotentHint": 1}'
  const { inputSchema, ...rest } = read(`{"inputSchema": {"a": 1}, "annotations": ${hints}}`)
  expect(inputSchema?.toString()).toBe('{"a": 1}')
  expect(rest).toEqual({
    annotations: { readOnlyHint: true, openWorldHint: false },
    isInteractive: false,
  })
  expect(read('{"annotations": null}').annotations).toEqual({})
  const long = JSON.stringify({ inputSchema: { title: 'x'.repeat(65_536) } })
  expect(read(long).inputSchema).toBeNull()
})

it.each([
  '{"annotations": {"readOnlyHint": true}, "annotations": {}}',
  '{"annotations": {"readOnlyHint": true, "readOnlyHint": false}}',
  '{"inputSchema": {}, "inputSchema": {}}',
  '{"execution": {}, "execution": {}}',
  '[]',
])('is that of a tool that changes something if any of it could be meant: %s', json => {
  expect(read(json).annotations).toEqual({ destructiveHint: true })
})

it.each([
  [false, '{}'],
  [false, '{"execution": {}}'],
  [false, '{"execution": {"taskSupport": "forbidden"}}'],
  [true, '{"execution": {"taskSupport": "optional"}}'],
  [true, '{"execution": {"taskSupport": "required"}}'],
])('is interactive (%s) if calls may be tasks: %s', (expected, json) => {
  expect(read(json).isInteractive).toBe(expected)
})
