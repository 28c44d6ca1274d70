import { describe, expect, it } from 'vitest'
import { findSpacing, writeSpacedJson } from '../../../../src/core/formats/text/json-spacing.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { decode, encode } from '../../../../src/index.ts'
import { FULL_RUNS } from '../../../support/runs.ts'

function jsonValue(text: string) {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(`no JSON at ${parsed.offset}`)
  return parsed.value
}

/** The word of the text's spacing, from which the text must come back. */
function wordOf(text: string): string | undefined {
  const value = jsonValue(text)
  const word = findSpacing(text, value)
  if (word !== undefined) expect(writeSpacedJson(value, word, text.length)).toBe(text)
  return word
}

const prettier = `{
  "name": "haversack",
  "files": ["dist", "src"],
  "exports": { ".": { "types": "./index.d.ts", "default": "./index.js" } },
  "keywords": [],
  "paths": {
    "a": {}
  },
  "people": [
    {
      "name": "Ann"
    },
    { "name": "Bo", "mail": "bo@example.com" }
  ],
  "rest": [
    "https://example.com/a/long/address/of/something",
    "https://example.com/another/one"
  ]
}`

const jackson = `{
  "took" : 5,
  "hits" : [ {
    "id" : 1,
    "tags" : [ "a", "b" ],
    "none" : [ ]
  }, {
    "id" : 2,
    "tags" : [ ],
    "none" : [ ]
  } ],
  "shards" : { }
}`

const postgres = [1, 2, 3]
  .map(id => `{"id":${id},"drugs":["x","y"],"levels":{"a": "${id}", "b": [1, 2]}}`)
  .join(', \n ')

describe('the layout of JSON', () => {
  it.each([
    ['Prettier and Biome', prettier, 'layout2-0nnn010w80-0nnn11111w80-x4A1A'],
    ['Jackson', jackson, 'layout2-1111-1nnn3'],
    ['json_agg and jsonb of PostgreSQL', `[${postgres}]`, 'layout1-00t0000010w0-000000101w0-k2BBC'],
    ['jsonb_pretty', '{\n    "a": [\n    ],\n    "b": {\n    }\n}', 'layout4-n-nnnn1'],
    ['jsonlite', '{\n  "a": [1, 2],\n  "b": ["c"]\n}', 'layout2-0010-0nnn1'],
    [
      'botocore',
      '{\n  "a":{"b":["c"]},\n  "d":{\n    "e":"f"\n  }\n}',
      'layout2-0010-0nnn00100w80-x3A',
    ],
    ['Python 2', '{\n  "a": 1, \n  "b": [\n    2, \n    3\n  ]\n}', 'layout2-0ntn-0ntn1'],
    ['rows', '[\n  {"a": 1, "b": [2, 3]},\n  {"a": 2, "b": []}\n]', 'layout2-0nnn010w22-00101'],
    ['a list that holds an object', '{\n  "a": [{\n    "b": 1\n  }]\n}', 'layout2-0010-0nnn1'],
    [
      'lists that hold objects, except one',
      '{\n  "a": [{\n    "b": 1\n  }],\n  "c": [{\n    "d": 2\n  }],\n  "e": [\n    3\n  ]\n}',
      'layout2-0nnn010w-0nnn1-x5A',
    ],
    [
      'objects of several lines, except one',
      '{\n  "a": { "b": 1 },\n  "c": {\n    "d": 2\n  },\n  "e": {\n    "f": 3\n  }\n}',
      'layout2-0-0nnn11111w0-x1B',
    ],
    ['blanks in brackets', '[ 1, { "a": [ 2 ] } ]', 'layout0-0111-01111'],
    ['no indentation', '{\n"a": [\n1,\n2\n]\n}', 'layout0-0nnn-0nnn1'],
    ['CR LF', '{\r\n  "a": [\r\n    1\r\n  ]\r\n}', 'layout2r-0nnn-0nnn1'],
    [
      'tabs and empty lines',
      '{\n\t"a": 1,\n\n\t"b": 2,\n\n\n\t"c": 3\n}',
      'layoutt-0-0nnn1-b1_1_0',
    ],
    ['escapes', '{ "a": "\\u00e9" }', 'layout0-0-01111-ascii'],
    ['a line feed after it', '[ 1, 2 ]\n', 'ended_layout0-0111-0'],
    ['CR LF after it', '{\r\n\t"a": 1\r\n}\r\n', 'endedr_layouttr-0-0nnn1'],
    ['CR LF after one line', '[1,2]\r\n', 'endedr_compact'],
  ])('is that of %s', (_, text, word) => expect(wordOf(text)).toBe(word))

  it.each([
    ['blanks after a colon that align values', '{\n  "a":  1,\n  "bc": 2\n}'],
    ['several members on a line', '[\n  1, 2,\n  3\n]'],
    ['a blank before a comma', '[1 , 2]'],
    ['a blank line with blanks', '[\n  1,\n  \n  2\n]'],
    ['tabs and blanks', '[\n\t[\n\t  1\n\t]\n]'],
    ['two indentations', '[\n  [\n   1\n  ]\n]'],
    ['a wide indentation', `[\n${' '.repeat(9)}1\n]`],
    ['a value on a line of its own', '{\n"a":\n1\n}'],
    ['two kinds of empty lists', '[ [], [ ] ]'],
    ['two kinds of line ends', '[\n  1,\r\n  2\n]'],
    ['five kinds of lists', '[[1,2],[1, 2],[ 1,2],[ 1, 2], [ 1, 2 ]]'],
    ['escapes without need', '[ "\\u0061" ]'],
    ['two line feeds after it', '[ 1 ]\n\n'],
    ['more exceptions than a layout has', `[${'[1, 2],\n[1,2],'.repeat(400)}0]`],
  ])('is none with %s', (_, text) => expect(wordOf(text)).toBeUndefined())

  it.each([
    ['compact', String.raw`a/b \"q\" \\u00e9 é <x>&'+= \u001b 😀`],
    ['compact-ascii', String.raw`a/b \"q\" \\u00e9 \u00e9 <x>&'+= \u001b \ud83d\ude00 \u007f`],
    ['compact-html', String.raw`a/b \"q\" \\u00e9 é \u003cx\u003e\u0026'+= \u001b \u2028`],
    ['compact-gson', String.raw`a/b \"q\" \\u00e9 é \u003cx\u003e\u0026\u0027+\u003d \u001b`],
    [
      'compact-net',
      String.raw`a/b \u0022q\u0022 \\u00e9 \u00E9 \u003Cx\u003E\u0026\u0027\u0060\u002B= \u001B`,
    ],
    ['compact-upper', String.raw`a/b \"q\" \\u00e9 \u00E9 <x>&'+= \u001B \uD83D\uDE00`],
    ['compact-php', String.raw`a\/b \"q\" \\u00e9 \u00e9 <x>&'+= \u001b \ud83d\ude00 \\\/`],
    ['compact-slash', String.raw`a\/b \"q\" \\u00e9 é <x>&'+= \u001b 😀`],
    [undefined, String.raw`a/b \u00e9 \u00E9`],
    [undefined, String.raw`a/b a\/b`],
    [undefined, String.raw`é \u00e9`],
  ])('has the escapes of %s', (word, text) => {
    expect(wordOf(`["${text}"]`)).toBe(word)
    const laidOut = `[ "${text}" ]`
    expect(wordOf(laidOut)).toBe(word?.replace('compact', 'layout0-0111-0'))
  })

  it.each([79, 80, 81, 100, 999])('counts a comma as part of a line of %i columns', width => {
    const string = (length: number) => `"${'x'.repeat(length - 2)}"`
    const fits = `[${string(width - 5)}]`
    const fitsWithoutComma = string(width - 4)
    const text = `[\n  ${fits},\n  [\n    ${fitsWithoutComma}\n  ],\n  [${fitsWithoutComma}]\n]`
    expect(wordOf(text)).toBe(`layout2-0nnn010w${width}-0`)
  })

  it('has the style of the last container with the same key, if that has fewer exceptions', () => {
    const rows = Array.from(
      { length: 30 },
      (_, at) => `{"long": [1,${'2,'.repeat(at)}3], "short": [1, ${'2, '.repeat(at % 7)}3]}`,
    )
    expect(wordOf(`[${rows.join(',')}]`)).toBe('layout0-0000010w0-00101-k3B')
  })

  it('is read by other processes, or refused, as a word of its own', () => {
    const named = /^(?:compact|python|tab|indent[1-8])(?:-|$)/
    expect(wordOf(prettier)).not.toMatch(named)
    expect(writeSpacedJson(jsonValue('[1]'), 'ended_indent2', 99)).toBe('[\n  1\n]\n')
  })

  it.each([
    ['layout9-0nnn-0nnn1', 'an indentation'],
    ['layout2-0nnn', 'arrays only'],
    ['layout2-nnn-0nnn1', 'no gap of empty lists'],
    ['layout2-0nnx-0nnn1', 'an unknown gap'],
    ['layout2-0nnn-0nnn4', 'an unknown colon'],
    ['layout2-0nnn010-0nnn1', 'two styles without a width'],
    ['layout2-0nnnw80-0nnn1', 'a width for one style'],
    ['layout2-0nnn010w1000-0nnn1', 'a wide width'],
    ['layout2-0-0nnn1', 'no style for a list'],
    ['layout2-0nnn010w0-0nnn1-x3B', 'an exception after the last list'],
    ['layout2-0nnn010w0-0nnn1-xC', 'a style that there is not'],
    ['layout2-0nnn010w0-0nnn1-xE', 'a fifth style'],
    ['layout2-0nnn-0nnn1-b', 'no empty lines'],
    ['layout2-0nnn-0nnn1-rot', 'unknown escapes'],
    ['layout2-0nnn-0nnn1-', 'no escapes'],
    ['ended_ended_indent2', 'two ends'],
    ['ended_', 'an end only'],
  ])('is no word: %s, %s', word => {
    expect(writeSpacedJson(jsonValue('[[1]]'), word, 1_000)).toBeUndefined()
  })

  it('is not written beyond the characters that are asked for', () => {
    const value = jsonValue(prettier)
    const word = wordOf(prettier)!
    expect(writeSpacedJson(value, word, prettier.length - 1)).toBeUndefined()
    expect(writeSpacedJson(value, `ended_${word}`, prettier.length)).toBeUndefined()
    expect(writeSpacedJson(value, `ended_${word}`, prettier.length + 1)).toBe(`${prettier}\n`)
    expect(writeSpacedJson(jsonValue('[1]'), 'layout2-0-0nnn1', 9)).toBeUndefined()
    const empty = `layout2-0nnn-0nnn1-b${'0_'.repeat(100_000)}0`
    expect(writeSpacedJson(jsonValue('[1]'), empty, 9)).toBeUndefined()
  })
})

describe('the layout of long JSON', () => {
  /** A short run shows the same with fewer. */
  const count = FULL_RUNS ? 20_000 : 4_000
  const list = (item: (at: number) => string) =>
    `[ ${Array.from({ length: count }, (_, at) => item(at)).join(', ')} ]`

  it.each([
    ['styles that alternate', list(at => (at % 2 === 0 ? '[1,2]' : '[1, 2]')), false],
    ['a style a key', list(at => `{"k${at}": ${at % 3 === 0 ? '[1,2]' : '[1, 2]'}}`), false],
    ['a blank too many at its end', `${list(() => '{"a": [1, 2]}').slice(0, -1)} ]`, false],
    ['an escape too many at its end', `[ ${list(() => '"\\u001b"')}, "\\u003c\\u00e9" ]`, false],
    ['an empty line a line', `[\n${'1,\n\n'.repeat(count)}1\n]`, false],
    [
      'lists in lists',
      list(at => (at % 50 === 0 ? `${'[ '.repeat(99)}1${' ]'.repeat(99)}` : '1')),
      true,
    ],
    ['long keys', list(at => `{ "${'k'.repeat(99)}${at}": [ ${at} ] }`), true],
  ])('is looked for in linear time: %s', (_, text, isFound) => {
    expect(wordOf(text) !== undefined).toBe(isFound)
  })

  it('is written in linear time, however many exceptions a word has', () => {
    const value = jsonValue(list(() => '[1]'))
    for (const rest of [
      `x${'A'.repeat(count)}`,
      `kB${'A'.repeat(count)}`,
      `b${'0_'.repeat(count)}0`,
    ]) {
      const word = `layout2-0nnn010w80-0-${rest}`
      expect(writeSpacedJson(value, word, 1 << 22)?.replaceAll(/\s/g, '')).toBe(
        list(() => '[1]').replaceAll(' ', ''),
      )
    }
  })
})

describe('a result with JSON in a layout', () => {
  const decoded = ({ content, format }: { readonly content: string; readonly format: string }) =>
    decode({ content, format })
  const rows = Array.from({ length: 20 }, (_, id) => `  { "id": ${id}, "tags": ["a", "b${id}"] }`)
  const text = `[\n${rows.join(',\n')}\n]\n`
  const backAgain = (value: unknown) => {
    const content = JSON.stringify(value)
    const answer = encode({ content })
    expect(JSON.parse(decoded(answer).content)).toEqual(value)
    return answer
  }
  const bare = encode({ content: text }).tokens.final

  it('a result in a layout decodes to its JSON', () => {
    const answer = backAgain({ content: [{ type: 'text', text }], isError: false })
    expect(answer.format).toMatch(/^strings@1;result_ok,json@1,ended_layout2-[\w-]+,tree@2$/)
    expect(answer.tokens.final).toBe(bare)
  })

  it('has it below the rest, or behind its key', () => {
    const below = backAgain({ stdout: text, exit_code: 0 })
    expect(below.format).toMatch(/,below,json@1,ended_layout2-/)
    const beside = backAgain({ a: text, b: text.replaceAll('a', 'c'), n: 1 })
    expect(beside.content).toMatch(/^a\(ended_layout2-[\w-]+ json\)/)
  })

  it('has a format that can be decoded, however often it is in JSON', () => {
    const lists = Array.from({ length: 200 }, (_, at) => ((at * at) % 7 < 3 ? '[1,2]' : '[1, 2]'))
    let value: unknown = { content: [{ type: 'text', text }] }
    for (let level = 0; level < 5; level++) {
      const next = JSON.stringify(JSON.stringify(value))
      const inner = `{ "lists": [${lists.join(', ')}], "next": ${next} }`
      value = { content: [{ type: 'text', text: inner }] }
      const { format } = backAgain(value)
      expect(format.length).toBeLessThanOrEqual(1_024)
      if (level === 2) expect(format.length).toBeGreaterThan(500)
    }
  })
})
