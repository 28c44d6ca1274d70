import { describe, expect, it } from 'vitest'
import { classify, type ShapeReport } from '../../../../src/core/classify/classify.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { FULL_RUNS } from '../../../support/runs.ts'

function report(text: string): ShapeReport {
  const parsed = parseJson(text)
  return classify(text, parsed.ok ? parsed.value : undefined)
}

const lines = (...all: string[]): string => all.join('\n')

describe('JSON', () => {
  it('meets prose in the shortest string that can be prose', () => {
    const words = 'a b c d e f g h i j. k l m n o p q r s'
    // Once a hash is met, words are counted for prose only.
    const met = (text: string) => report(JSON.stringify(['deadbee1', text])).inner_formats
    expect(met(`${words} t.`)).toEqual(['hash', 'prose'])
    expect(met(`${words}.`)).toEqual(['hash'])
  })

  it.each<[string, Partial<ShapeReport>]>([
    ['[]', { shape: 'empty', n_items: 0 }],
    [' {} ', { shape: 'empty', n_fields: 0 }],
    ['[{"a":1},{"a":[2]}]', { shape: 'array_of_objects', n_items: 2, depth: 3, key_stability: 1 }],
    ['[{}]', { shape: 'array_of_objects', n_items: 1, depth: 2, key_stability: 1 }],
    ['[1,"a",null,true,1.0]', { shape: 'array_of_primitives', n_items: 5, depth: 1 }],
    ['[1,{"a":1}]', { shape: 'nested_object', n_items: 2, depth: 2 }],
    ['[[1],[2]]', { shape: 'nested_object', n_items: 2, depth: 2 }],
    ['{"a":1,"b":"x","a":1.0}', { shape: 'flat_object', n_fields: 3, depth: 1 }],
    ['{"a":[]}', { shape: 'nested_object', n_fields: 1, depth: 2 }],
    ['{"a":{"b":{"c":1}}}', { shape: 'nested_object', n_fields: 1, depth: 3 }],
  ])('%s', (text, expected) => {
    expect(report(text)).toEqual({ inner_formats: [], ...expected })
  })

  it('measures how alike the rows are, against the first one', () => {
    expect(report('[{"a":1,"b":1},{"a":1,"b":1},{"a":1}]').key_stability).toBe(0.75)
    expect(report('[{"a":1},{"b":1}]').key_stability).toBe(0)
    expect(report('[{},{}]').key_stability).toBe(1)
    expect(report('[{"a":1,"b":2},{"b":1,"a":2}]').key_stability).toBe(1)
  })

  it('compares the first twenty rows only', () => {
    const rows = [...Array(20).fill('{"a":1}'), '{"b":1}']
    expect(report(`[${rows.join()}]`).key_stability).toBe(1)
  })

  it.each(['1', '"some words"', 'null', 'true'])('classifies the scalar %s as text', text => {
    expect(report(text)).toEqual({ shape: 'prose', inner_formats: [] })
  })

  it('classifies what is nearly JSON as text', () => {
    expect(report('{"a":1,}').shape).toBe('prose')
    expect(report('\ufeff{"a":1}').shape).toBe('prose')
  })

  it('finds inner formats in strings at any depth, and reports them in a fixed order', () => {
    const log = '2026-01-02T03:04:05Z start\n2026-01-02T03:04:06Z commit 4f3a9bc'
    const deep = `${'{"a":['.repeat(50)}${JSON.stringify(log)}${']}'.repeat(50)}`
    expect(report(`[{"x":${deep}},{"u":"see https://example.org/"}]`).inner_formats).toEqual([
      'url',
      'log',
      'hash',
    ])
  })

  it('does not look at keys, and does not add up lines of different strings', () => {
    expect(report('{"https://a.b":1,"4f3a9bc0":2}').inner_formats).toEqual([])
    expect(report('["2026-01-02T03:04:05Z","2026-01-02T03:04:06Z"]').inner_formats).toEqual([])
  })
})

describe('text', () => {
  it.each<[string, Partial<ShapeReport>]>([
    ['', { shape: 'empty' }],
    [' \n\t ', { shape: 'empty' }],
    ['a', { shape: 'prose' }],
    ['One paragraph.\n\nAnother - with * signs.', { shape: 'prose' }],
    ['| a | b |\n|---|:-:|\n| 1 | 2 |\n', { shape: 'markdown_table', n_cols: 2, n_rows: 1 }],
    ['  | a | b |  \r\n  | - | - |\r\n', { shape: 'markdown_table', n_cols: 2, n_rows: 0 }],
    ['|a||c|\n|-|-|-|\n|1|2|3|', { shape: 'markdown_table', n_cols: 3, n_rows: 1 }],
    ['| a \\| b | c |\n|---|---|', { shape: 'markdown_table', n_cols: 2, n_rows: 0 }],
    [
      lines('# T', '| a | b |', '|---|---|', '| 1 | 2 |', '| 3', 'end', '| 4 | 5 |', '- x'),
      { shape: 'markdown_table', n_cols: 2, n_rows: 2 },
    ],
    [lines('| a | b |', '', '|---|---|'), { shape: 'prose' }],
    [lines('| a | b |', '| : | : |'), { shape: 'prose' }],
    [lines('```sh', '| a |', '|---|', '```'), { shape: 'code_block' }],
    [lines('text', '  ```', 'x', '  ```'), { shape: 'code_block' }],
    [lines('```', 'only opened'), { shape: 'prose' }],
    [lines('  1→import x', '  2→', ' 17→end'), { shape: 'numbered_list' }],
    [lines('     9\timport x', '    10\t', '    11\tend'), { shape: 'numbered_list' }],
    [lines('1→a', '2→b'), { shape: 'prose' }],
    [lines('5\tAnn\t30', '9\tBo\t31', '2\tCy\t32'), { shape: 'prose' }],
    [lines('- a', '- b', '* c'), { shape: 'bullet_list' }],
    [lines('- a', '- b'), { shape: 'prose' }],
    [lines('-- a', '--', '-b', '*c*', '**d**'), { shape: 'prose' }],
  ])('%j', (text, expected) => {
    expect(report(text)).toEqual({ inner_formats: [], ...expected })
  })

  it.each<[string, readonly string[]]>([
    ['see http://a.b', ['url']],
    ['https://a.b is it', ['url']],
    ['ftp://a.b and file://x', []],
    ['2026-01-02 03:04 a\n2026-01-02 03:05 b', ['log']],
    ['[INFO] 2026-01-02T03:04 a\nnoise\nWARN: 2026-01-02T03:05 b', ['log']],
    ['released 2026-01-02 03:04', []],
    ['2026-01-02\n2026-01-03', []],
    [`${'x'.repeat(60)} 2026-01-02 03:04\n${'x'.repeat(60)} 2026-01-02 03:05`, []],
    ['fixed in 4f3a9bc.', ['hash']],
    ['4F3A9BC0', ['hash']],
    [`sha256:${'0a'.repeat(32)}`, ['hash']],
    [`${'0a'.repeat(33)}`, []],
    ['1234567 acceded x4f3a9bc 4f3a9bg é4f3a9bcé', []],
    ['diff --git a/x b/x', ['diff']],
    ['@@ -1,2 +1,3 @@ fn', ['diff']],
    ['@@ no hunk', []],
    ['Traceback (most recent call last):\n  File "x"', ['stack_trace']],
    ['Error: x\n    at f (a.js:1)\n    at g (a.js:2)', ['stack_trace']],
    ['Error: x\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)', ['stack_trace']],
    ['we met\nat noon\nat the lake', []],
    ['we met\n    at noon', []],
    [lines('# One', '', 'x', '', '## Two', 'y'), ['md']],
    [lines('text', '', '# Only one', '', '- a', '- b', '- c'), ['md']],
    [lines('## Only one', '', '```', 'x', '```'), ['md', 'md_with_code']],
    [lines('# a comment', 'x = 1', '', '# another', 'y = 2'), []],
    [lines('## Only one', '', 'text'), []],
    [lines('#no', '', '####### no', '', '# ', '', '## yes'), []],
    [lines('```', '## a', '', '## b', '```'), []],
    ['<a><b>x</b></a>', ['xml_html']],
    ['  <?xml version="1.0"?>', ['xml_html']],
    ['<!DOCTYPE html>', ['xml_html']],
    ['<note>one pair</note> a < b </c> </d>', []],
    ['</a></b><a><b>', []],
    [lines('a: 1', 'b:', '  - c: 2', '  - d', '# e'), ['yaml']],
    [lines('name: x', 'on:', 'jobs: y', 'one', 'two'), []],
    [lines('name: x', 'on:', 'a b c'), []],
    [lines('http://x', 'C:/y', 'z:1'), ['url']],
    ['it says {"code": 200, "a": 1} here', ['inline_json']],
    ['[INFO] [[1, [2, 3]], ["a", "bcdefg"]]', ['inline_json']],
    ['{ } [ ] {"a":1} [1, 2] [a, b] {x: "0123456789"}', []],
    ['[["abcdefghijklmnop"]]', []],
    [
      'Plain words come first here, and there are quite a few of them. Then another sentence follows, as ' +
        'it should in prose! Is that enough?',
      [],
    ],
  ])('finds the inner formats of %j', (text, expected) => {
    expect(report(text).inner_formats).toEqual(expected)
  })

  it('finds prose and JSON in strings at any depth', () => {
    const sentence = 'A few words make a sentence of this kind, more or less. '
    const few = JSON.stringify([sentence])
    const enough = JSON.stringify([[{ a: sentence.repeat(2), b: '{"c":[1,2,3],"d":null}' }]])
    expect(report(few).inner_formats).toEqual([])
    expect(report(enough).inner_formats).toEqual(['inline_json', 'prose'])
    expect(report(JSON.stringify(['x1 '.repeat(40), 'word '.repeat(40)])).inner_formats).toEqual([])
  })

  it('takes the dashes of a diff for no list', () => {
    const diff = lines('diff --git a/x b/x', '@@ -1,3 +1 @@', '-  a', '- b', '- c', '- d')
    expect(report(diff)).toEqual({ shape: 'prose', inner_formats: ['diff'] })
  })

  it('does not repeat the shape as an inner format, but reports it inside JSON', () => {
    const table = '| a | b |\n|---|---|'
    const fence = '```\nx\n```'
    const gutter = '1→a\n2→b\n3→c'
    expect(report(table).inner_formats).toEqual([])
    expect(report(`${table}\n\n${fence}`).inner_formats).toEqual(['code_fence'])
    expect(report(JSON.stringify([table, fence, gutter])).inner_formats).toEqual([
      'md_table',
      'code_fence',
      'numbered_list',
    ])
  })
})

describe('hostile text', { timeout: 60_000 }, () => {
  /** Characters; a short run shows the same with fewer. */
  const SIZE = FULL_RUNS ? 400_000 : 20_000

  it.each([
    '|',
    '`',
    '@@ -',
    '| a |\n',
    '1\t\n',
    '://',
    'a',
    ' ',
    '\n',
    '-',
    '2026-',
    '0',
    '\\|',
    '[',
    '{"a":',
    '<a>',
    '</a',
    '# a\n',
    'a: b\n',
    'a. ',
  ])('stays linear on a long run of %j', piece => {
    // A quadratic pass would take 10^11 steps in a full run, and run into the test's time limit.
    const text = piece.repeat(SIZE / piece.length)
    expect(report(text).shape).toBeTypeOf('string')
    expect(report(`|${text}|\n|-|\n@@ -${text}`).shape).toBeTypeOf('string')
    expect(report(JSON.stringify({ a: text, b: [text] })).shape).toBe('nested_object')
  })

  it('classifies deep nesting and very many strings', () => {
    const levels = 50_000
    const deep = parseJson('['.repeat(levels) + ']'.repeat(levels), { maxDepth: levels })
    expect(deep.ok && classify('', deep.value).depth).toBe(levels)
    expect(report(JSON.stringify(Array(SIZE).fill('x'))).n_items).toBe(SIZE)
  })
})
