import { describe, expect, it } from 'vitest'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { findTextFormat } from '../../../../src/core/formats/text/registry.ts'
import { decode, encode } from '../../../../src/index.ts'
import { lengthCounter } from '../../../support/length-counter.ts'

const { format: mcp } = findTextFormat('mcp@1')!
const tools = {
  counter: lengthCounter(4),
  formats: JSON_FORMATS.filter(({ id }) => id === 'json_compact'),
}
const rows = { rows: [{ id: 1, name: 'Zoë' }], total: 1.5 }

/** A result as a server sends it. */
function resultOf(text: string, structuredContent: unknown, extra: object = {}): string {
  const content = [
    { type: 'text', text, ...extra },
    { type: 'image', data: 'x' },
  ]
  return JSON.stringify({ content, structuredContent, isError: false })
}

function written(text: string) {
  const [first] = mcp.encode(text, tools)
  if (first !== undefined) {
    expect(mcp.decode(first.content, first.style, text.length)).toBe(text)
  }
  return first
}

describe('an MCP result that says the same twice', () => {
  it.each([
    ['compact', JSON.stringify(rows), rows],
    ['indent2', JSON.stringify(rows, null, 2), rows],
    ['tab', JSON.stringify(rows, null, '\t'), rows],
    ['python-ascii', '{"rows": [{"id": 1, "name": "Zo\\u00eb"}], "total": 1.5}', rows],
    ['result_indent4', JSON.stringify([rows], null, 4), { result: [rows] }],
    ['result_plain', 'only\nwords', { result: 'only\nwords' }],
    ['result_compact', '7', { result: 7 }],
  ])('is written once: %s', (spacing, text, structured) => {
    const once = written(resultOf(text, structured, { annotations: {} }))
    expect(once?.style).toBe(`${spacing},json_compact@1`)
    expect(JSON.parse(once?.content ?? '')).toEqual({
      content: [
        { type: 'text', annotations: {} },
        { type: 'image', data: 'x' },
      ],
      structuredContent: structured,
      isError: false,
    })
  })

  it.each([
    ['other words', resultOf('done', rows)],
    ['another value', resultOf('{"rows":[],"total":1.5}', rows)],
    ['another spelling', resultOf('{"rows":[{"id":1,"name":"Zoë"}],"total":1.50}', rows)],
    ['another order', resultOf('{"total":1.5,"rows":[{"id":1,"name":"Zoë"}]}', rows)],
    ['a spacing of its own', resultOf('{"rows" :[{"id":1,"name":"Zoë"}],"total":1.5}', rows)],
    ['no structured content', '{"content":[{"type":"text","text":"{}"}],"x":"structuredContent"}'],
    ['no list', '{"content":"{}","structuredContent":{}}'],
    [
      'a text that is missing already',
      '{"content":[{"type":"text"},{"type":"text","text":"{}"}],"structuredContent":{}}',
    ],
    ['no text first', '{"content":[{"text":"{}","type":"text"}],"structuredContent":{}}'],
    [
      'another member first',
      '{"content":[{"type":"text","x":"{}","text":"a"}],"structuredContent":{}}',
    ],
    ['no JSON', '"structuredContent"'],
  ])('is not, if the text has %s', (_, text) => {
    expect(written(text)).toBeUndefined()
  })

  it('goes through the pipeline, and comes back as the same value', () => {
    const many = { rows: Array.from({ length: 20 }, (_, id) => ({ id, name: `user ${id}` })) }
    const content = resultOf(JSON.stringify(many, null, 2), many)
    const { format, tokens, content: encoded } = encode({ content })
    expect(format).toMatch(/^mcp@1;indent2,/)
    expect(tokens.final).toBeLessThan(tokens.baseline / 4)
    expect(decode({ content: encoded, format })).toEqual({
      content,
      media_type: 'application/json',
    })
  })

  it.each([
    ['mcp@1', '{}'],
    ['mcp@1;compact,json_compact@1', '{}'],
    ['mcp@1;compact,json_compact@1', '{"content":[],"structuredContent":{}}'],
    ['mcp@1;result_plain,json_compact@1', '{"content":[{"type":"text"}],"structuredContent":{}}'],
    [
      'mcp@1;result_plain,json_compact@1',
      '{"content":[{"type":"text"}],"structuredContent":{"result":1}}',
    ],
    ['mcp@1;xml,json_compact@1', '{"content":[{"type":"text"}],"structuredContent":{}}'],
  ])('%s refuses %s', (format, content) => {
    expect(() => decode({ content, format })).toThrow(/not_decodable/)
  })
})
