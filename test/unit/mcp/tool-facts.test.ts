import { expect, it } from 'vitest'
import { toolFacts } from '../../../src/mcp/catalogue/tool-facts.ts'

const read = (json: string) => toolFacts(Buffer.from(json))

it('says whether a definition has an output schema and a user interface', () => {
  expect(read('{"name":"a"}')).toEqual({
    hasOutputSchema: false,
    hasUi: false,
    annotations: {},
    isInteractive: false,
    inputSchema: null,
  })
  expect(read('{"outputSchema":{},"_meta":{"ui":{}}}')).toMatchObject({
    hasOutputSchema: true,
    hasUi: true,
  })
})

it('has the hints that are flags, and the schema', () => {
  const hints = '{"title": "x", "readOnlyHint": true, "openWorldHint": false, "idempotentHint": 1}'
  const { inputSchema, annotations, isInteractive } = read(
    `{"inputSchema": {"a": 1}, "annotations": ${hints}}`,
  )
  expect(inputSchema?.toString()).toBe('{"a": 1}')
  expect(annotations).toEqual({ readOnlyHint: true, openWorldHint: false })
  expect(isInteractive).toBe(false)
  expect(read('{"annotations": null}').annotations).toEqual({})
  const long = JSON.stringify({ inputSchema: { title: 'x'.repeat(65_536) } })
  expect(read(long).inputSchema).toBeNull()
})

it.each([
  '{"annotations": {"readOnlyHint": true}, "annotations": {}}',
  '{"annotations": {"readOnlyHint": true, "readOnlyHint": false}}',
  '{"inputSchema": {}, "inputSchema": {}}',
  '{"execution": {}, "execution": {}}',
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
