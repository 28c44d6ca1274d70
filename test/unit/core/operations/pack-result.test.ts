import { describe, expect, it } from 'vitest'
import type { ResultTerms } from '../../../../src/core/contract/request-terms.ts'
import { packResultOperation } from '../../../../src/core/operations/pack-result.ts'
import { decode, encode } from '../../../../src/index.ts'
import { localContext } from '../../../support/local-context.ts'

const ROWS = Array.from({ length: 30 }, (_, id) => ({ id, name: `item ${id}`, state: 'open' }))
const JSON_TEXT = JSON.stringify(ROWS)

/** The result as it leaves; the same text if nothing changed. */
function pack(result: string, terms: Partial<ResultTerms> = {}, context: object = {}): string {
  const { bytes } = packResultOperation.run(Buffer.from(result), {
    ...localContext(),
    keepsOriginals: true,
    ...context,
    terms: {
      redeems: false,
      bypass: false,
      result: { tool: 'mcp__db__query', mode: 'lossless', structured: 'keep', ...terms },
    },
  })
  return bytes === null ? result : Buffer.from(bytes).toString()
}

/** What a packed text represents. */
function unpack(packed: string, content: string): string {
  const { format, content: encoded } = encode({ content, tool: 'mcp__db__query' })
  expect(packed).toBe(encoded)
  return decode({ content: packed, format }).content
}

const textBlock = (text: string, more = '') =>
  `{"type":"text","text":${JSON.stringify(text)}${more}}`

describe('an MCP tool result', () => {
  it('has smaller texts, which decode to those that came', () => {
    const packed = pack(`{"content":[${textBlock(JSON_TEXT)}]}`)
    const [block] = JSON.parse(packed).content
    expect(block.type).toBe('text')
    expect(block.text.length).toBeLessThan(JSON_TEXT.length / 2)
    expect(JSON.parse(unpack(block.text, JSON_TEXT))).toEqual(ROWS)
  })

  it('stays as it came while compression is held', () => {
    const result = `{"content":[${textBlock(JSON_TEXT)}]}`
    expect(pack(result, { structured: 'text' }, { isPaused: true })).toBe(result)
  })

  it('keeps every other byte', () => {
    const before = '{ "_meta":{"n":12345678901234567890,"x":1.0}, "content" : [ '
    const image = '{"type":"image","data":"AAAA","mimeType":"image/png","é":"\\u0061"} , '
    const after = ' ],"isError" : false }'
    const packed = pack(`${before}${image}${textBlock(JSON_TEXT, ',"_meta":{"a":1.50}')}${after}`)
    expect(packed.startsWith(before + image)).toBe(true)
    expect(packed.endsWith(`,"_meta":{"a":1.50}}${after}`)).toBe(true)
  })

  it.each([
    ['no object', '[]'],
    ['no list of blocks', '{"content":"text"}'],
    ['a member that is there twice', `{"content":[],"content":[${textBlock(JSON_TEXT)}]}`],
    ['a text that is none', '{"content":[{"type":"text","text":5}]}'],
    [
      'a block with two texts',
      `{"content":[{"type":"text","text":"a","text":${JSON.stringify(JSON_TEXT)}}]}`,
    ],
    ['torn JSON', `{"content":[${textBlock(JSON_TEXT)}]`],
    [
      'blocks for the user alone',
      `{"content":[${textBlock(JSON_TEXT, ',"annotations":{"audience":["user"]}')}]}`,
    ],
    [
      'a text that cannot get smaller',
      `{"content":[${textBlock('The build passed, and nothing else is known.')}]}`,
    ],
  ])('stays as it is: %s', (_, result) => {
    expect(pack(result)).toBe(result)
  })

  it('leaves nothing out of an error', () => {
    const log = Array.from({ length: 3000 }, (_, i) => `line ${i} of a build that failed`).join(
      '\n',
    )
    const result = (isError: boolean) => `{"content":[${textBlock(log)}],"isError":${isError}}`
    const elide = { mode: 'elide', budget_tokens: 300 } as const
    expect(pack(result(false), elide)).toContain(' not shown | ')
    expect(pack(result(true), elide)).not.toContain(' not shown | ')
  })
})

describe('a structured value', () => {
  const VALUE = `{"rows":${JSON_TEXT},"next":12345678901234567890}`
  const structured = `"structuredContent":${VALUE}`

  it('stays, if the client reads texts', () => {
    const packed = pack(`{"content":[${textBlock(JSON_TEXT)}],${structured}}`)
    expect(packed.endsWith(`,${structured}}`)).toBe(true)
    expect(packed.length).toBeLessThan(structured.length + JSON_TEXT.length / 2)
  })

  it.each([
    ['after its text', `{"content":[${textBlock(VALUE)}],${structured},"isError":false}`],
    ['before its text', `{${structured},"content":[${textBlock(VALUE)}],"isError":false}`],
    ['last', `{"isError":false,"content":[${textBlock(VALUE)}] , ${structured} }`],
    ['without any content', `{"isError":false,${structured}}`],
  ])('becomes the one text: %s', (_, result) => {
    const packed = JSON.parse(pack(result, { structured: 'text' }))
    expect(Object.keys(packed).sort()).toEqual(['content', 'isError'])
    expect(packed.content).toHaveLength(1)
    const value = unpack(packed.content[0].text, VALUE)
    expect(JSON.parse(value).rows).toEqual(ROWS)
    expect(value).toContain('12345678901234567890')
  })

  it('keeps blocks that are no text for the model', () => {
    const image = '{"type":"image","data":"AAAA","mimeType":"image/png"}'
    const note = textBlock('for the user', ',"annotations":{"audience":["user"]}')
    const packed = pack(`{"content":[${image},${textBlock(VALUE)},${note}],${structured}}`, {
      structured: 'text',
    })
    const { content } = JSON.parse(packed)
    expect(content).toHaveLength(3)
    expect(packed).toContain(`,${image},${note}]`)
  })

  it('loses no text that differs from it', () => {
    const summary = textBlock('40 rows; ask for the next page')
    const { content } = JSON.parse(
      pack(`{"content":[${summary}],${structured}}`, { structured: 'text' }),
    )
    expect(content).toHaveLength(2)
    expect(content[1].text).toBe('40 rows; ask for the next page')
  })

  it.each([
    ['null', `{"content":[${textBlock('the only text')}],"structuredContent":null}`],
    [
      'of an error',
      `{"content":[${textBlock('no such file')}],"structuredContent":{},"isError":true}`,
    ],
  ])('stays with its texts: %s', (_, result) => {
    expect(pack(result, { structured: 'text' })).toBe(result)
  })
})

// Contract, section 7, "Field groups"; SOURCES.md#planner, "Annotation taxonomy", 2.
describe('fields that are not included by default', () => {
  const ISSUES = Array.from({ length: 20 }, (_, id) => ({
    id,
    title: `issue ${id}`,
    snippet: `a long text about what happened in issue ${id}, `.repeat(5),
  }))
  const json = JSON.stringify(ISSUES)
  const result = `{"content":[${textBlock(json)}]}`
  const textOf = (packed: string): string => JSON.parse(packed).content[0].text

  it('go with a marker that names the original, and nothing else goes', () => {
    const text = textOf(pack(result, { omitted_fields: ['snippet'] }))
    expect(text).not.toContain('a long text')
    expect(text).toContain('19,19')
    expect(text).toMatch(/> \[.*snippet not shown \| hash=[0-9a-f]{24}\]/)
  })

  it('stay without a marker, in errors, and when the server trims', () => {
    expect(textOf(pack(result))).toContain('a long text')
    const failed = result.replace('{', '{"isError":true,')
    expect(textOf(pack(failed, { omitted_fields: ['snippet'] }))).toContain('a long text')
    expect(textOf(pack(result, { omitted_fields: ['other'] }))).toContain('a long text')
  })
})

// Contract, section 7, "DOM cap"; SOURCES.md#planner, pattern 9.
describe('large markup of a browser', () => {
  const html = `<html><body>${Array.from({ length: 400 }, (_, at) => `<div class="row"><p>words of part ${at * 7919}</p></div>\n`).join('')}</body></html>`
  const result = `{"content":[${textBlock(html)}]}`
  const textOf = (packed: string): string => JSON.parse(packed).content[0].text
  const capped = (keywords: string[], server = 'playwright') =>
    textOf(pack(result, { markup: { server, keywords } }))

  it('is cut to 4 kB with a marker, unless the intent is about it', () => {
    const text = capped(['login'])
    expect(Buffer.byteLength(text)).toBeLessThan(5_000)
    expect(text).toMatch(/> \[.*not shown.* hash=[0-9a-f]{24}\]/)
    expect(capped(['html'])).not.toContain(' not shown | ')
    expect(capped(['login'], 'files')).not.toContain(' not shown | ')
  })
})
