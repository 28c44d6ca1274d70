import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { tree } from '../../../../src/core/formats/json/tree/tree.ts'
import { DEFAULT_MAX_DEPTH, parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues, type Value } from '../../../../src/core/json/value.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import type { TokenCounter } from '../../../../src/core/tokens/counter.ts'
import { encode } from '../../../../src/index.ts'
import { FULL_RUNS, runs } from '../../../support/runs.ts'
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

describe('a table that is easy to read', () => {
  it('has at most 24 cells a row, if a form with keys costs little more', () => {
    /** Three rows, of which each has a third of the columns that not all have. */
    const rows = Array.from({ length: 3 }, (_, row) =>
      Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [`k${at}`, row * 7 + at]).filter(
          (_, at) => at % 10 < 3 || (at + row) % 3 === 0,
        ),
      ),
    )
    expect(encode({ content: JSON.stringify(rows) }).content).toMatch(/^- \{k0:0,/)
    const narrow = rows.map(row => Object.fromEntries(Object.entries(row).slice(0, 9)))
    expect(encode({ content: JSON.stringify(narrow) }).content).toMatch(/^\[3/)
  })

  const rows = (count: number, first: (at: number) => unknown) =>
    Array.from({ length: count }, (_, at) => ({
      name: first(at),
      text: `${String.fromCharCode(97 + (at % 26)).repeat(40)} ${(at * 37) % 89}`,
      other: at % 3 === 0 ? { x: at } : ['a', at],
    }))

  it('numbers every 25th row, those in braces too', () => {
    const all: object[] = rows(60, at => `n${(at * 7) % 11}`)
    all[49] = { text: 'other', name: 1, more: true }
    const lines = roundTrip(JSON.stringify(all)).split('\n')
    expect(lines[0]).toMatch(/^\[60.?#\]:$/)
    expect(lines.filter(line => line.startsWith('#'))).toEqual([
      expect.stringMatching(/^#25 3,yyy/),
      expect.stringMatching(/^#50 \{text/),
    ])
  })

  it('has no numbers if it is short, its rows are, or their first member counts them', () => {
    const tables = [
      rows(49, at => `n${at}`),
      rows(60, at => at + 17),
      Array.from({ length: 60 }, (_, at) => ({ a: (at * 7) % 11, b: at % 3 })),
    ]
    for (const table of tables) expect(roundTrip(JSON.stringify(table))).toMatch(/^\[\d+[\t| ]?\]:/)
  })

  it('has phrases without quotes at the end of its lines, however many there are', () => {
    const words = ['river', 'stone', 'north', 'queue', 'merge', 'delta', 'amber']
    const word = (at: number) => words[at % words.length]!
    const rows = Array.from({ length: 30 }, (_, at) => {
      return {
        kind: word(at),
        place: word(2 * at + 1),
        note: `${word(3 * at + 2)} ${word(at + 3)}`,
      }
    })
    const [head, header, ...lines] = encode({ content: JSON.stringify(rows) }).content.split('\n')
    expect([head, header]).toEqual(['[30 ]:', 'kind place note'])
    expect(lines).toEqual(rows.map(({ kind, place, note }) => `${kind} ${place} ${note}`))
  })

  it('has no marks where they cost much', () => {
    const table = Array.from({ length: 40 }, (_, at) => ({
      a: at % 7,
      ...(at % 5 === 1 ? { b: 1, c: 2 } : {}),
      d: at % 3,
    }))
    expect(roundTrip(JSON.stringify(table))).toMatch(/^\[40.?\]:\na,b,c,d\n0,,,0\n/)
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
    // As it was written before empty cells had marks: a bare dash is a string.
    ['[2]:\na,b,c,d\n1,,,2\n-,,"-",3', '[{"a":1,"d":2},{"a":"-","c":"-","d":3}]'],
    ['[2-]:\na,b,c,d\n1,,,2\n-,,"-",3', '[{"a":1,"d":2},{"c":"-","d":3}]'],
    ['{2-}:\nkey,a,b\nx,-,1\n-,2', '{"x":{"b":1},"-":{"a":2}}'],
    ['id{2-}:\nkey,a,b\nx,-,1\n-,2', '{"id":{"x":{"b":1},"-":{"a":2}}}'],
    ['a[2-#]:\nb\n-\n1', '{"a":[{},{"b":1}]}'],
    ['a: 1\nb: null\nc: true', '{"a":1,"b":null,"c":true}'],
    ['a:\n    b: 1\n    c: 2\nd: 3', '{"a":{"b":1,"c":2},"d":3}'],
    ['a:\n  - 1\n  - b: 2\n   c: 3\nd: 4', '{"a":[1,{"b":2,"c":3}],"d":4}'],
    ['[2]:\na, b\n1, x\n2, y', '[{"a":1,"b":"x"},{"a":2,"b":"y"}]'],
    ['{"a": 1, "b": [true, null]}', '{"a":1,"b":[true,null]}'],
    ['a[1|]:\nb|c\n1|2', '{"a":[{"b":1,"c":2}]}'],
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

  it('reads 100,000 of them', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
    const names = letters.flatMap(a => letters.flatMap(b => letters.map(c => a + b + c)))
    const used = names.slice(0, 100_000)
    const text = `${used.map(name => `${name}{k}\n`).join('')}[${used.map(name => `${name}(1)`)}]`
    expect(tree.decode(text)).toHaveLength(100_000)
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
const LARGE = FULL_RUNS ? 50_000 : 10_000

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
    const members = Array.from({ length: runs(1_000_000) }, (_, i) => `"k${i}":${i % 7}`)
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
