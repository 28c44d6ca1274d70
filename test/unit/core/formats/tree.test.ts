import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { FEWEST_TOKENS } from '../../../../src/core/formats/json/tree/style.ts'
import { tree, treeInStyle } from '../../../../src/core/formats/json/tree/tree.ts'
import { DEFAULT_MAX_DEPTH, parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues, type Value } from '../../../../src/core/json/value.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { createReading, type Reading, USUAL_READING } from '../../../../src/core/reading/price.ts'
import type { TokenCounter } from '../../../../src/core/tokens/counter.ts'
import { encode } from '../../../../src/index.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { NO_TREES, TREE_CASES } from './tree-cases.ts'

const SHAPES_IN_SHAPES =
  '[{"b":1},{"b":1,"c":2},{"a":"x)","b":1,"c":["y)"]},{"a":{"a":1,"b":1},"b":1,"c":{"d":{"a":2,"b":1}}}]'
const GROUPS_IN_SHAPE = '{"x":{"b":{"c":1,"d":2},"e":[{"f":3,"g":{"a":4}},{"f":5}]}}'

/** Prefers lines and tables, as tokens often do and lengths do not. */
const LINES: TokenCounter = {
  id: 'lines',
  exact: false,
  count: text => text.split(/[[{"]/).length,
  countUpTo: text => text.split(/[[{"]/).length,
}

/** As many tokens as characters. */
const LETTERS: TokenCounter = {
  id: 'letters',
  exact: false,
  count: text => text.length,
  countUpTo: text => text.length,
}

function read(json: string): Value {
  const parsed = parseJson(json)
  if (!parsed.ok) throw new Error(`${parsed.reason} at ${parsed.offset}`)
  return parsed.value
}

/** The text, after checking that it is read back as the same value. */
function roundTrip(json: string, counter?: TokenCounter): string {
  const value = read(json)
  const text = tree.encode(value, counter)!
  const decoded = tree.decode(text)
  // Compared as text first, for a readable difference where both are small.
  if (json.length < 1000) expect(writeJson(decoded)).toBe(writeJson(value))
  expect(equalValues(decoded, value)).toBe(true)
  return text
}

describe.each(Object.entries(TREE_CASES))('%s', (_, [json, text]) => {
  it('is written as in the table', () => {
    expect(roundTrip(json)).toBe(text)
  })

  it('comes back, however it is priced', () => {
    roundTrip(json, LINES)
    roundTrip(json, { ...LINES, count: other => -other.length })
  })
})

describe('prices of reading', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      order: `ORD-2026-${1000 + at * 7}`,
      state: at % 3 === 0 ? 'open' : 'shipped',
      ...(at % 4 === 0 ? { note: `n${at}` } : {}),
    }))

  const write = (reading: Reading, value: unknown) => {
    const style = { ...FEWEST_TOKENS, reading }
    return treeInStyle(style).encode(read(JSON.stringify(value)), counters.get('o200k_base'))!
  }
  const affixAt = (each: number) => createReading('balanced', { affix_number: { each } })

  it('cuts a column only if that saves its price in the whole table', () => {
    const header = (each: number, count: number) => write(affixAt(each), rows(count)).split('\n')[1]
    expect(header(0, 5)).toBe('order=ORD-2026-*,state,note')
    expect(header(20, 5)).toBe('order,state,note')
    expect(header(20, 20)).toBe('order=ORD-2026-*,state,note')
    expect(header(1000, 20)).toBe('order,state,note')
  })

  it('leaves no bare numbers if it is plain', () => {
    const plain = createReading('plain')
    expect(write(plain, rows(40))).toContain('\norder,state,note\n')
    const words = rows(40).map((row, at) => ({
      ...row,
      order: `ORD-2026-${'abcdefgh'[at % 8]}${at % 5}`,
    }))
    expect(write(plain, words)).toContain('\norder=ORD-2026-*,state,note\n')
  })

  it('declares shapes only if they save their share', () => {
    const item = (at: number) => ({ identifier: at, description: `d${at}`, location: `l${at % 3}` })
    const value = {
      first: item(1),
      second: { deep: item(2), rank: 0 },
      third: { list: [item(3), 'x', item(4)], rank: 1 },
      fourth: { deeper: { deep: item(5), more: [[item(6)]] } },
    }
    expect(write(createReading('balanced'), value)).toMatch(/^[A-Z]\{/)
    const dear = createReading('balanced', { shape: { share: 2 } })
    for (const reading of [dear, createReading('plain')]) {
      expect(write(reading, value)).not.toMatch(/^[A-Z]\{/)
    }
  })

  it('reports what its reader must know, at no price of its own', () => {
    const weigh = (value: unknown) => {
      const style = { ...FEWEST_TOKENS, reading: USUAL_READING }
      const json = read(JSON.stringify(value))
      return treeInStyle(style).weigh!(json, counters.get('o200k_base'))
    }
    expect(weigh(rows(40))).toMatchObject({ surcharge: 0, uses: { affix_number: 1 } })
    expect(weigh({ a: 1, page: { orders: rows(40), other: rows(30) } })).toMatchObject({
      surcharge: 0,
      uses: { affix_number: 2 },
    })
    expect(weigh(rows(3))).toMatchObject({ surcharge: 0, uses: {} })
  })

  it('writes like calls alike, whatever signs are in their cells', () => {
    const page = (note: string) => rows(8).map(row => ({ ...row, by: note }))
    const heads = ['Ann', 'Ann Lee', 'a, b', 'a|b', 'a\tb', 'a; b'].map(note =>
      encode({ content: JSON.stringify(page(note).map((row, at) => ({ ...row, at }))) })
        .content.split('\n')
        .slice(0, 2)
        .join('\n')
        .replace(/,by=.*(?=,at)/, ''),
    )
    expect(new Set(heads)).toEqual(new Set(['[8]:\norder=ORD-2026-*,state,note,at']))
  })
})

describe('text that is no tree', () => {
  it.each(NO_TREES)('%j is refused at line %i', (text, line) => {
    let error: unknown
    try {
      tree.decode(text)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).code).toBe('not_decodable')
    expect((error as AppError).detail).toMatch(new RegExp(`^line ${line}: `))
  })
})

describe('what the writer never writes, but a reader would expect', () => {
  it.each([
    ['[2]:\na,b,c,d\n1,,,2\n-,,"-",3', '[{"a":1,"d":2},{"c":"-","d":3}]'],
    ['{2}:\nkey,a,b\nx,-,1\n-,2', '{"x":{"b":1},"-":{"a":2}}'],
    ['a[2]:\nb\n-\n1', '{"a":[{},{"b":1}]}'],
    ['a[1]:\nb=x*,c[d,e]\n-,[-,1;2,-]', '{"a":[{"c":[{"e":1},{"d":2}]}]}'],
    ['a: 1\nb: null\nc: true', '{"a":1,"b":null,"c":true}'],
    ['a:\n    b: 1\n    c: 2\nd: 3', '{"a":{"b":1,"c":2},"d":3}'],
    ['a:\n  - 1\n  - b: 2\n   c: 3\nd: 4', '{"a":[1,{"b":2,"c":3}],"d":4}'],
    // A space after a comma is part of a cell.
    ['[2]:\na, b\n1, x\n2, y', '[{"a":1," b":" x"},{"a":2," b":" y"}]'],
    ['{"a": 1, "b": [true, null]}', '{"a":1,"b":[true,null]}'],
    ['a[0]:\nb', '{"a":[]}'],
    ['a:```\nx\n```y\n```', '{"a":"x\\n```y"}'],
  ])('%j', (text, json) => {
    expect(writeJson(tree.decode(text))).toBe(json)
  })
})

describe('shapes', () => {
  it('have no name that is a key of JSON in a string, which may come before a parenthesis', () => {
    const row = (id: number) => ({ identifier: id, description: `d${id}`, tail: id % 2 === 0 })
    const inner = [{ A: JSON.stringify([{ q: 'first, too' }, { q: 'second, too' }]) }, 7, 'x, y']
    const [one, two, three, four] = [1, 2, 3, 4].map(row)
    const value = {
      one,
      two: { x: two, q: [three, 1] },
      y: { z: four },
      log: JSON.stringify(inner),
    }
    const text = roundTrip(JSON.stringify(value), LETTERS)
    expect(text).toContain('- A(compact json)')
    expect(text).toContain('B(1,')
  })

  it.each([
    ['x:A(1)\ny: A(2,3)', '{"x":"A(1)","y":"A(2,3)"}'],
    ['A{1}:\nkey,a\nB,1', '{"A":{"B":{"a":1}}}'],
    ['A{a,b}\nx:B(1)\nA:A(1,2)', '{"x":"B(1)","A":{"a":1,"b":2}}'],
    ['A{a,b=1,c}\n[A(),A(,2),A("x)",[y)]),A(A(1),{d:A(2)})]', SHAPES_IN_SHAPES],
    ['A{a,b{c,d},e[f,g]}\nx:A(,1,2,[3,A(4);5])', GROUPS_IN_SHAPE],
    ['A{__proto__,toString}\nx:A(1,2)', '{"x":{"__proto__":1,"toString":2}}'],
    // A declaration has no objects in shapes: they could double from each to the next.
    ['A{a=B(1)}\nB{b}\nx:A()', '{"x":{"a":"B(1)"}}'],
  ])('%j', (text, json) => {
    expect(writeJson(tree.decode(text))).toBe(json)
  })

  it('reads very many of them', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
    const names = letters.flatMap(a => letters.flatMap(b => letters.map(c => a + b + c)))
    const used = names.slice(0, 2 * LARGE)
    const text = `${used.map(name => `${name}{k}\n`).join('')}[${used.map(name => `${name}(1)`)}]`
    expect(tree.decode(text)).toHaveLength(used.length)
  })

  it('refuses 10,000 in one another', () => {
    const text = `A{a}\nx:${'A('.repeat(10_000)}${')'.repeat(10_000)}`
    expect(() => tree.decode(text)).toThrow('nested too deeply')
  })

  it('says the keys once of lists that alternate, lack a key, or hold one another', () => {
    const one = (i: number) => ({ identifier: i, description: `d${i}`, location: `l${i % 3}` })
    const other = (i: number) => ({
      temperature: i,
      humidity: i % 7,
      ...(i % 5 ? { wind: i } : {}),
    })
    const json = JSON.stringify({
      readings: Array.from({ length: 6 }, (_, i) => (i % 2 ? one(i) : other(i))),
      last: { place: one(99), weather: { now: other(98), inside: [other(95)] } },
    })
    const text = roundTrip(json)
    for (const key of ['description', 'humidity', 'wind']) expect(text.split(key)).toHaveLength(2)
  })
})

/** Members and rows of a large input; a short run shows the same with fewer. */
const LARGE = FULL_RUNS ? 50_000 : 3_000

/** For the large inputs, on a machine that is busy with other things. */
describe('size and depth', { timeout: 60_000 }, () => {
  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['both', '[{"a":', '}]'],
    ['objects with others beside them', '{"b":"x","a":', ',"c":[]}'],
  ])('takes %s of the greatest depth', (_, open, close) => {
    const levels = Math.floor(DEFAULT_MAX_DEPTH / (open.match(/[[{]/g)?.length ?? 1)) - 1
    for (const counter of [undefined, LINES]) {
      roundTrip(`${open.repeat(levels)}1${close.repeat(levels)}`, counter)
    }
  })

  it('refuses text that is nested too deeply', () => {
    for (const text of [
      `a:${'['.repeat(600)}${']'.repeat(600)}`,
      `${'a.'.repeat(600)}a:1`,
      `[1]:\n${'a{'.repeat(600)}b${'}'.repeat(600)}\n1`,
      Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    ]) {
      expect(() => tree.decode(text)).toThrow('nested too deeply')
    }
  })

  it('takes a million keys', () => {
    const members = Array.from({ length: fewRuns(1_000_000, 5_000) }, (_, i) => `"k${i}":${i % 7}`)
    roundTrip(`{${members.join()}}`)
  })

  it.each<[string, (n: number) => string]>([
    ['rows of keys of their own', n => `[${list(n, i => `{"k${i}":1}`)}]`],
    ['one wide row', n => `[${'{"k0":1},'.repeat(n)}{${list(n, i => `"k${i}":1`)}}]`],
    ['groups of keys of their own', n => `[${list(n, i => `{"g":{"k${i}":1}}`)}]`],
    ['wide and long', n => `[${list(200, () => `{${list(n / 200, i => `"k${i}":1`)}}`)}]`],
    [
      'tables in tables',
      n => `[${list(n / 50, () => `${'[{"a":'.repeat(40)}1${'}]'.repeat(40)}`)}]`,
    ],
    ['JSON in JSON', n => nestedText(Math.floor(Math.log2(n)) - 3)],
    ['JSON in rows', n => `[${list(n / 10, i => `{"${i}":"[{\\"a\\":${i}},{\\"a\\":2}]"}`)}]`],
    ['fences', n => `{"a":"${'```\\n'.repeat(n)}"}`],
    ['quotes', n => `[${list(n, () => '{"a":"\\"\\\\,;"}')}]`],
  ])('writes no more than the input, and in linear time: %s', (_, make) => {
    // A quadratic step would need minutes for the larger one.
    for (const n of [1000, LARGE]) {
      const json = make(n)
      expect(roundTrip(json).length).toBeLessThan(2 * json.length)
    }
  })

  it.each(['\n', '"', ',', '[', '{', '- ', ' ', '`', ';', ':', '.', '=', '*\n', 'a:\n', '- a:\n '])(
    'reads hostile text of %j without stalling',
    filler => {
      for (const start of ['', 'a:1\n', '- ', '[9]:\na,b{c},d[e]\n', 'a:```\n', '{9}:\nkey,a\n']) {
        try {
          tree.decode(`${start}${filler.repeat(2 * LARGE)}\u0000"[`)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }
    },
  )

  it('refuses a short text that stands for too many cells', () => {
    const rows = '\n1'.repeat(LARGE)
    const names = list(LARGE, i => `k${i}=1`)
    expect(() => tree.decode(`[${LARGE}]:\na,${names}${rows}`)).toThrow('too many cells')
    const empty = list(LARGE, i => `k${i}`)
    expect(() => tree.decode(`[${LARGE}]:\n${empty}${rows}`)).toThrow('too many cells')
  })

  function nestedText(levels: number): string {
    let json = '{"a":[1,2]}'
    for (let i = 0; i < levels; i++) json = JSON.stringify({ a: json, b: 1 })
    return json
  }

  function list(n: number, item: (i: number) => string): string {
    return Array.from({ length: n }, (_, i) => item(i)).join()
  }
})
