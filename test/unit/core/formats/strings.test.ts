import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { findTextFormat } from '../../../../src/core/formats/text/registry.ts'
import { createStrings } from '../../../../src/core/formats/text/strings.ts'
import type { TextFormat } from '../../../../src/core/formats/text/text-format.ts'
import { decode, encode } from '../../../../src/index.ts'
import { lengthCounter } from '../../../support/length-counter.ts'
import { FULL_RUNS, leastHits, runs } from '../../../support/runs.ts'

const { format: strings } = findTextFormat('strings@1')!
const tools = {
  counter: lengthCounter(1),
  formats: JSON_FORMATS.filter(({ id }) => id === 'json_compact'),
}

const read = Array.from({ length: 40 }, (_, at) => `${at + 1}\tline "${at}" of a file`).join('\n')
const rows = Array.from({ length: 20 }, (_, id) => ({ id, name: `n${id}`, ok: true }))
const prose = Array.from(
  { length: 20 },
  (_, at) => `${'abcdefghijklmnopqrst'[at]} "sentence".\n`,
).join('')

/** Texts that are JSON with a text below it, so deep. */
function inTexts(levels: number): string {
  const heads = Array.from({ length: levels }, (_, at) => {
    const lines = 1 + 2 * (levels - at - 1)
    return `text 1, ${lines} line${lines > 1 ? 's' : ''}, json@1;compact,strings@1,1,json_compact@1`
  })
  return `["text 1"]\n${heads.join('\n["text 1"]\n')}\n[]`
}

function decoded({ content, format }: { readonly content: string; readonly format: string }) {
  return decode({ content, format }).content
}

function written(value: unknown) {
  const text = JSON.stringify(value)
  const [first] = strings.encode(text, tools)
  if (first === undefined) return undefined
  expect(strings.decode(first.content, first.style, text.length)).toBe(text)
  return first
}

describe('texts in the strings of JSON', () => {
  it('stand below the JSON, each in its own format', () => {
    const value = { content: [{ type: 'text', text: read }], output: JSON.stringify(rows), prose }
    const { content = '', style } = written(value) ?? {}
    expect(style).toBe('1,json_compact@1')
    const lines = content.split('\n')
    expect(JSON.parse(lines[0]!)).toEqual({
      content: [{ type: 'text', text: 'text 1' }],
      output: JSON.stringify(rows),
      prose: 'text 2',
    })
    expect(lines.filter(line => /^text \d+, /.test(line))).toEqual([
      expect.stringMatching(/^text 1, \d+ lines, numbered@1/),
      'text 2, 21 lines',
    ])
  })

  it.each([
    ['a short string', { text: 'a\nb\nc\nd\n"' }],
    ['JSON beside more', { text: JSON.stringify(rows), other: 'x'.repeat(2_000) }],
    ['a long line', { text: '"'.repeat(1_000) }],
    ['a lone surrogate', { text: `${prose}\ud800` }],
    ['a NUL', { text: `${prose}\0` }],
    ['a byte order mark', { text: `\ufeff${prose}` }],
    ['a string with the name of a block', { text: prose, other: 'text 1' }],
    ['a key only', { [prose]: 1 }],
  ])('stay where they are: %s', (_, value) => expect(written(value)).toBeUndefined())

  it.each([
    ['four lines', { text: `a\nb\n"\nd${' '.repeat(200)}` }, true],
    ['three lines', { text: `a\nb\n"${' '.repeat(200)}` }, false],
    ['four strings of one line feed', Array(4).fill('a\nb'.repeat(30)).join('"'), true],
    ['many strings of two lines', Array(40).fill('some\nlines'), false],
    ['escaped backslashes', { text: '\\n'.repeat(100) }, false],
    ['nothing', [], false],
  ])('are looked for first: %s', (_, value, isFound) => {
    expect(strings.accepts(JSON.stringify(value), undefined as never)).toBe(isFound)
  })

  it.each([
    ['carriage returns', prose.replaceAll('\n', '\r\n')],
    ['our own layout', `${prose}text 1, 2 lines\n\ntext 2, 1 line, json;compact,csv@1\n`],
    ['fences and marks', `${prose}\`\`\`csv\na\n\`\`\`\n[… lines 1-4]\n> [lines 1-4]\n`],
    ['broken escapes', `${prose}\\ud8\\u00\\`],
    ['broken JSON', `{"a":${prose}`],
    ['JSON of a spacing of its own', `[ ${JSON.stringify(rows)}\n]`],
  ])('are exact with %s', (_, text) => expect(written({ text, prose })).toBeDefined())

  it('are exact beside strings in strings, and 64 lists deep', () => {
    let value: unknown = { text: 'x' }
    for (let depth = 0; depth < 12; depth++) value = { inner: JSON.stringify(value) }
    expect(written({ value, prose })).toBeDefined()
    const deep = Array.from({ length: 64 }).reduce<unknown>(inner => [inner], prose)
    expect(written(deep)).toBeDefined()
  })

  it('needs no heading if it is the only one', () => {
    const { content = '', style } = written({ output: read, exit_code: 0 }) ?? {}
    expect(style).toMatch(/^1,json_compact@1,below,numbered@1,tab$/)
    const [frame, gap, ...below] = content.split('\n')
    expect([frame, gap]).toEqual(['{"output":"below","exit_code":0}', ''])
    const bare = encode({ content: read, formats: ['numbered'] })
    expect(below.join('\n')).toBe(bare.content)
  })

  it.each([
    ['beside its own place', { a: prose, b: 'below' }, '1,json_compact@1'],
    ['in the text', { a: `${prose}below` }, '1,json_compact@1,below'],
    ['in a key', { a: prose, below: 1 }, '1,json_compact@1,below'],
  ])('is read once, with the name of its place %s', (_, value, style) => {
    expect(written(value)?.style).toBe(style)
  })

  const result = (text: string, rest: object = {}) => ({
    content: [{ type: 'text', text }],
    ...rest,
  })

  it.each([
    ['long', read, {}, 'result,numbered@1,tab'],
    ['without an error', read, { isError: false }, 'result_ok,numbered@1,tab'],
    ['short', 'done', { isError: false }, 'result_ok'],
    ['a scalar', '42', {}, 'result'],
    ['with a byte order mark within', 'test\t\ufeff2026-01-22', {}, 'result'],
    ['like a frame', '{"a":"below"}\n\nx', {}, 'result'],
    ['like a style', 'text 1, 1 line', {}, 'result'],
  ])('is all of a result of MCP: %s', (_, text, rest, style) => {
    const answer = written(result(text, rest))
    expect(answer?.style).toBe(style)
    if (!style.includes(',')) expect(answer?.content).toBe(text)
  })

  it.each([
    ['failed', result(prose, { isError: true })],
    ['has more to it', result(prose, { isError: false, _meta: {} })],
    ['has it first', { isError: false, ...result(prose) }],
    ['has annotations', { content: [{ type: 'text', text: prose, annotations: {} }] }],
    [
      'has two texts',
      {
        content: [
          { type: 'text', text: prose },
          { type: 'text', text: 'b' },
        ],
      },
    ],
    ['is another type', { content: [{ type: 'note', text: prose }] }],
    ['has a word for false', result(prose, { isError: 'false' })],
  ])('has a frame if the result %s', (_, value) => {
    expect(written(value)?.style).toMatch(/^1,json_compact@1/)
  })

  it.each([
    ['is empty', result('')],
    ['is JSON of a spacing of its own', result('[1,\t2]')],
    ['has a NUL', result('a\0')],
    ['has a lone surrogate', result('a\ud800')],
  ])('stays in its result if it %s', (_, value) => expect(written(value)).toBeUndefined())

  it('is never dearer than a value format, however the JSON is', () => {
    const text = fc.array(
      fc.constantFrom('a b', '"', '', '- x', '```', '1\tx', '{"a":1}', '  x', '\ty();'),
      {
        minLength: 1,
        maxLength: 40,
      },
    )
    const frame = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 1 }))
    fc.assert(
      fc.property(text, frame, fc.boolean(), (lines, rest, isResult) => {
        const lone = lines.join('\n').repeat(20)
        const value = isResult ? result(lone) : { ...rest, output: lone }
        const content = JSON.stringify(value)
        const { tokens } = encode({ content })
        const values = ['json_compact', 'csv', 'tree']
        expect(tokens.final).toBeLessThanOrEqual(encode({ content, formats: values }).tokens.final)
      }),
      // Line feeds in quotes take no more tokens there.
      { numRuns: runs(200), examples: [[['a b', 'a b', 'a b'], { a: false }, false]] },
    )
  })

  it('are unchanged if their format does not give them back', () => {
    const broken: TextFormat = {
      id: 'broken',
      version: 1,
      accepts: () => true,
      encode: () => [{ content: 'x', style: '' }],
      decode: () => 'y',
    }
    const content = JSON.stringify({ output: prose })
    const [answer] = createStrings([broken]).encode(content, tools)
    expect(answer?.content.endsWith(`\n\n${prose}`)).toBe(true)
  })

  it.each([
    ['compact', (value: unknown) => JSON.stringify(value)],
    ['indented', (value: unknown) => JSON.stringify(value, null, 2)],
    ['ended', (value: unknown) => `${JSON.stringify(value, null, 4)}\n`],
  ])('that are JSON cost in a result what the JSON costs by itself: %s', (_, write) => {
    const values = [rows, { a: 1 }, { rows, total: rows.length }, [prose, prose], result(prose)]
    for (const text of values.map(write)) {
      const content = JSON.stringify(result(text, { isError: false }))
      const answer = encode({ content })
      const bare = encode({ content: text }).tokens.final
      expect(answer.tokens.final).toBeLessThanOrEqual(bare)
      expect(decoded(answer)).toBe(content)
      const shell = JSON.stringify({ stdout: text, stderr: '', exit_code: 0, duration_ms: 1_234 })
      const inShell = encode({ content: shell })
      expect(decoded(inShell)).toBe(shell)
      expect(inShell.tokens.final).toBeLessThan(bare + 28)
    }
  })

  it('are found in results of results', () => {
    const few = read.split('\n').slice(0, 4).join('\n')
    const inResults = (levels: number) => {
      let text = few
      for (let level = 0; level < levels; level++) text = JSON.stringify(result(text))
      return text
    }
    const bare = encode({ content: few }).tokens.final
    for (const [levels, most] of [
      [12, bare],
      [13, bare],
      [14, Number.POSITIVE_INFINITY],
    ] as const) {
      const content = inResults(levels)
      const answer = encode({ content })
      expect(answer.tokens.final).toBeLessThanOrEqual(most)
      expect(answer.format.length).toBeLessThanOrEqual(1_024)
      expect(decoded(answer) === content).toBe(true)
    }
  })

  it('have a format that can be decoded, however deep they are in JSON', () => {
    let value: unknown = { output: read.split('\n').slice(0, 15).join('\n'), exit_code: 0 }
    for (let level = 0; level < 12; level++) {
      value = { output: `${JSON.stringify(value, null, 2)}\n`, exit_code: 0 }
    }
    const content = JSON.stringify(value)
    const answer = encode({ content })
    expect(answer.format.split('json@1')).toHaveLength(13)
    expect(answer.format.length).toBeLessThanOrEqual(1_024)
    expect(decoded(answer) === content).toBe(true)
  })

  const nested = (levels: number) => {
    let text = prose
    for (let level = 0; level < levels; level++) {
      // Escapes double with each level, so the first ones only are strings.
      text = level < 6 ? JSON.stringify(result(text, { isError: false })) : `[${text}]`
    }
    return text
  }

  /** A short run shows the same with fewer. */
  const MANY = FULL_RUNS ? 170_000 : 10_000
  it.each([
    ['results in results', nested(6)],
    ['64 levels', nested(64)],
    ['a broken escape', `{"output":"${'a\\n  b'.repeat(80)}\\x"}`],
    ['half a surrogate pair', JSON.stringify(result(`${prose}\ud83d`))],
    ['a long line', JSON.stringify(result('x "y" '.repeat(MANY)))],
    ['a long line in four', JSON.stringify({ output: `a\nb\nc\n${'x "y" '.repeat(MANY)}` })],
    ['many line feeds', JSON.stringify(result('\n'.repeat(MANY)))],
    ['many names of the place', JSON.stringify(result('below\n'.repeat(MANY)))],
    ['many results', JSON.stringify(Array(MANY / 10).fill(result('done')))],
  ])('are read again as they were: %s', (_, content) => {
    const answer = encode({ content })
    const decoded = decode({ content: answer.content, format: answer.format }).content
    expect(decoded === content).toBe(true)
    expect(answer.tokens.final).toBeLessThanOrEqual(answer.tokens.baseline)
  })

  it('are at most so many, the others stay in the JSON', () => {
    const { content = '' } = written(Array.from({ length: 70 }, () => prose)) ?? {}
    expect(content.match(/^text \d+, 21 lines$/gm)).toHaveLength(64)
    expect(JSON.parse(content.split('\n')[0]!)).toContain(prose)
  })

  it('cannot be in JSON that is too deep to be read', () => {
    const nested = `${'['.repeat(300)}"text 1"${']'.repeat(300)}`
    const content = `${nested}\ntext 1, 1 line\nx`
    expect(strings.encode(nested.replace('text 1', '\\n'.repeat(300)), tools)).toEqual([])
    expect(() => strings.decode(content, '1,json_compact@1', 10_000)).toThrow('250 levels')
  })

  it.each([
    ['a text that nothing names', '{"a":"b"}\ntext 1, 1 line\nx', '1,json_compact@1'],
    ['a text named twice', '["text 1","text 1"]\ntext 1, 1 line\nx', '1,json_compact@1'],
    ['lines that are missing', '["text 1"]\ntext 1, 2 lines\nx', '1,json_compact@1'],
    ['texts out of order', '["text 2"]\ntext 2, 1 line\nx', '1,json_compact@1'],
    ['an unknown format of a text', '["text 1"]\ntext 1, 1 line, x@1\nx', '1,json_compact@1'],
    ['a text within a text', '["text 1"]\ntext 1, 1 line, strings@1\nx', '1,json_compact@1'],
    ['no heading', '["text 1"]\nx', '1,json_compact@1'],
    ['an unknown frame', '["text 1"]\ntext 1, 1 line\nx', '1,other@1'],

    ['no text below', '{"a":"below"}', '1,json_compact@1,below'],
    ['no gap before the text', '{"a":"below"}\nx', '1,json_compact@1,below'],
    ['a text below that nothing names', '{"a":"b"}\n\nx', '1,json_compact@1,below'],
    ['a text below named twice', '["below","below"]\n\nx', '1,json_compact@1,below'],
    ['an unknown format below', '["below"]\n\nx', '1,json_compact@1,below,x@1'],
    ['an unknown frame above', '["below"]\n\nx', '1,other@1,below'],
    ['a result within a result', 'x', 'result,strings@1,result'],
    ['JSON without a format', 'x', 'result,json@1,compact'],
    ['JSON of no known spacing', '{}', 'result,json@1,other,json_compact@1'],
    ['JSON in an unknown format', 'x', 'result,json@1,compact,other@1'],
    ['JSON in a format of texts', 'x', 'result,json@1,compact,prefixed@1,dots'],
    ['texts without a style', 'x', 'result,json@1,compact,strings@1'],
    ['JSON in 13 texts', '{}', `${'result,json@1,compact,strings@1,'.repeat(13)}result`],
    ['JSON in 100,000 texts', '{}', `${'result,json@1,compact,strings@1,'.repeat(100_000)}result`],
    ['JSON in 1,000 texts below JSON', inTexts(1_000), '1,json_compact@1'],
    ['no known result', 'x', 'result_failed'],
    ['no style', '["text 1"]\ntext 1, 1 line\nx', ''],
  ])('cannot be read: %s', (_, content, style) => {
    expect(() => strings.decode(content, style, 1_000)).toThrow(
      expect.objectContaining({ code: 'not_decodable' }),
    )
  })

  it('are not written beyond the limit', () => {
    const { content = '', style = '' } = written({ text: read }) ?? {}
    expect(() => strings.decode(content, style, 100)).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    )
  })

  it('are sent when that costs fewer tokens', () => {
    const content = JSON.stringify({ content: [{ type: 'text', text: read }] })
    const answer = encode({ content })
    expect(answer.format).toMatch(/^strings@1;/)
    const bare = encode({ content: read })
    expect(answer.tokens.final).toBeLessThan(bare.tokens.final + 30)
    expect(decode({ content: answer.content, format: answer.format }).content).toBe(content)
    expect(encode({ content, formats: ['tree'] }).format).not.toMatch(/strings/)
  })

  it('are exact in random trees', () => {
    const line = fc.oneof(
      fc.constantFrom('', 'a "b"', '1\tx', 'text 1, 1 line', '```csv', '\r'),
      fc.string({ unit: 'grapheme' }),
    )
    const fragile = fc.constantFrom('\ud800', '\0', '\ufeff')
    const textOf = (lines: fc.Arbitrary<string>) =>
      fc.array(lines, { minLength: 3, maxLength: 90, size: 'max' }).map(all => all.join('\n'))
    const leaf = fc.oneof(
      { arbitrary: textOf(line), weight: 6 },
      textOf(fc.oneof(line, fragile)),
      fc.jsonValue({ maxDepth: 2 }).map(value => JSON.stringify([value, prose], null, 2)),
      fc.constant('text 1'),
    )
    const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('tree'), { maxKeys: 4 }),
      ),
    }))
    const number = runs(300)
    let hits = 0
    fc.assert(
      fc.property(tree, value => {
        if (written(JSON.parse(JSON.stringify(value))) !== undefined) hits++
      }),
      { numRuns: number },
    )
    expect(hits).toBeGreaterThanOrEqual(leastHits(number * 0.1))
  })
})
