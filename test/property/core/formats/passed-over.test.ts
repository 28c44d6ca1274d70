import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify } from '../../../../src/core/classify/classify.ts'
import { weighed } from '../../../../src/core/formats/json/json-format.ts'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { findRuns, hasLikeLines } from '../../../../src/core/formats/text/records/find-records.ts'
import { lineParts } from '../../../../src/core/formats/text/records/record-parts.ts'
import { findTables } from '../../../../src/core/formats/text/templated/find-templates.ts'
import {
  familiesAmong,
  likePlaces,
  readTemplates,
} from '../../../../src/core/formats/text/templated/line-templates.ts'
import { countBlanks, readYaml } from '../../../../src/core/formats/text/yaml/read-yaml.ts'
import { SOURCE_MARK } from '../../../../src/core/formats/text/yaml/yaml-layout.ts'
import { mayBeOutermost } from '../../../../src/core/formats/text/yaml/yaml-lines.ts'
import { yaml } from '../../../../src/core/formats/text/yaml.ts'
import { ObjectValue } from '../../../../src/core/json/value.ts'
import { lengthCounter } from '../../../support/length-counter.ts'
import { leastHits, runs } from '../../../support/runs.ts'
import { counters } from '../../../support/vocabularies.ts'

const RUNS = runs(3_000)

const setting = fc.constantFrom(
  ...['a=1 ', 'a=2 ', 'b = 3 ', 'b = x ', 'c="q r"', 'c="s"', '[s]', '[k=1]', 'on ', '"', '='],
)
const settings = alikeLines(setting, { bases: 1, least: 3, most: 12, join: '' }).map(all =>
  all.join('\n'),
)

it('records are looked for in every text that has some', () => {
  let found = 0
  fc.assert(
    fc.property(settings, text => {
      if (findRuns(lineParts(text)).length === 0) return
      found++
      expect(hasLikeLines(text)).toBe(true)
    }),
    { numRuns: RUNS },
  )
  expect(found).toBeGreaterThanOrEqual(leastHits(RUNS * 0.1))
})

const word = fc.constantFrom(
  ...['took', 'user', 'at', '/var/log/a', '/var/log/b', '12', '7ms', 'v1.2', '-', '\u001f', 'x\by'],
)
const lines = alikeLines(word, { bases: 3, least: 12, most: 50, join: ' ' })

interface Lines {
  readonly bases: number
  readonly least: number
  readonly most: number
  /** Between the parts of a line. */
  readonly join: string
}

/** Most lines are one of a few, with another part in one place. */
function alikeLines(part: fc.Arbitrary<string>, options: Lines): fc.Arbitrary<readonly string[]> {
  const { bases, least, most, join } = options
  const base = fc.array(part, { minLength: 2, maxLength: 4 })
  const change = fc.record({
    of: fc.nat(bases - 1),
    at: fc.nat(7),
    to: part,
    end: fc.constantFrom('', '', '', ' ', '\t'),
  })
  return fc
    .tuple(
      fc.array(base, { minLength: bases, maxLength: bases }),
      fc.array(change, { minLength: least, maxLength: most }),
    )
    .map(([all, changes]) =>
      changes.map(({ of, at, to, end }) => {
        const parts = all[of]!.map((each, i) => (i === at ? to : each))
        return parts.join(join) + end
      }),
    )
}

describe.each([
  { name: 'templates', isLoose: false, fewest: { lines: 3, varying: 2 } },
  { name: 'listings', isLoose: true, fewest: { lines: 8, varying: 2 } },
])('lines that are passed over', ({ name, isLoose, fewest }) => {
  it(`are of no family of ${name} with enough lines and digits`, () => {
    let found = 0
    let passed = 0
    fc.assert(
      fc.property(lines, all => {
        const read = readTemplates(all)
        const places = [...all.keys()].filter(at => read.ids[at] !== -1)
        const isLarge = (family: readonly number[]) =>
          family.length >= fewest.lines &&
          family.filter(at => /\d/.test(all[at]!)).length >= fewest.varying
        const like = likePlaces(places, read, fewest)
        const large = familiesAmong(places, read, { isLoose }).filter(isLarge)
        found += large.length
        passed += places.length - like.length
        expect(familiesAmong(like, read, { isLoose }).filter(isLarge)).toEqual(large)
      }),
      { numRuns: RUNS },
    )
    expect(found).toBeGreaterThanOrEqual(leastHits(RUNS * 0.1))
    expect(passed).toBeGreaterThanOrEqual(leastHits(RUNS))
  })
})

const logged = alikeLines(
  fc.constantFrom(
    ...['took', 'user', 'at', '/var/a', '12', '7ms', 'a:1:', 'x=1', '3\t', '9→', '|'],
  ),
  { bases: 2, least: 4, most: 20, join: ' ' },
).map(all => all.join('\n'))

it('tables are looked for in every text that has some', () => {
  let found = 0
  const counter = lengthCounter(1)
  fc.assert(
    fc.property(logged, text => {
      // A text with the start of a hunk is read line by line.
      const read = findTables(`${text}\n@@ -`, counter, 1)
      if (read.length > 0) found++
      expect(findTables(`${text}\n@@ +`, counter, 1)).toEqual(read)
    }),
    { numRuns: RUNS },
  )
  expect(found).toBeGreaterThanOrEqual(leastHits(RUNS * 0.1))
})

const yamlLine = fc
  .tuple(
    fc.constantFrom('', '', '', '  ', '    ', '\t'),
    fc.constantFrom(
      ...[
        'a: 1',
        'b:',
        '"c d": x',
        "'e':",
        '- f',
        '- g: 2',
        '-',
        '# h',
        '',
        'k "v"',
        '"m" n',
        'o:p',
      ],
      ...['text', '{q: 1}', 'r: |', '|', '---'],
    ),
  )
  .map(parts => parts.join(''))

it('YAML is looked for in every text that has some', () => {
  let passed = 0
  let found = 0
  const layouts = [true, false].flatMap(colon =>
    [0, 2].map(dash => ({
      ...{ step: 2, dash, colon, flow: false, blanks: ['n', 'n', 'n', 'n'] as const },
      ...{ quotes: { safe: 'n', unlike: 'd', unsafe: 'd' } as const },
      ...{ head: false, many: false, end: 0 },
    })),
  )
  fc.assert(
    fc.property(fc.array(yamlLine, { minLength: 1, maxLength: 6 }), all => {
      for (const layout of layouts) {
        const value = readYaml(all, layout, countBlanks())
        const isRead = all.every(line => mayBeOutermost(line, layout.colon))
        if (value !== undefined) found++
        if (!isRead) passed++
        expect(isRead || value === undefined).toBe(true)
      }
    }),
    { numRuns: RUNS },
  )
  expect(found).toBeGreaterThanOrEqual(leastHits(RUNS * 0.2))
  expect(passed).toBeGreaterThanOrEqual(leastHits(RUNS))
})

const below = fc.array(
  fc.constantFrom(
    ...['  12→\tconst a = "b"', '   1→', '  if (x) {', '  }', '    # c', '\t\treturn', '  - é "d"'],
    ...['   text of some words', '', '  \\n \\"'],
  ),
  { minLength: 3, maxLength: 12 },
)

it('one text below a key takes no fewer tokens in a value format', () => {
  let others = 0
  fc.assert(
    fc.property(fc.constantFrom('a', 'The file b has changed', '"c"'), below, (key, all) => {
      const body = ['  {', ...all, '  }'].join('\n')
      const text = `${key}:\n${body}\n`
      const value = new ObjectValue([key], [`${SOURCE_MARK}\n${body}`])
      for (const id of ['o200k_base', 'cl100k_base'] as const) {
        const counter = counters.get(id)
        const tools = { counter, formats: JSON_FORMATS }
        expect(yaml.encode(text, tools)).toEqual([])
        if (yaml.encode(`${text}k: 1\n`, tools).length > 0) others++
        for (const format of JSON_FORMATS) {
          if (!format.accepts(value, classify('', value))) continue
          const written = weighed(format, value, counter)
          if (written === null) continue
          expect(counter.count(written.content)).toBeGreaterThanOrEqual(counter.count(text))
        }
      }
    }),
    { numRuns: RUNS },
  )
  expect(others).toBeGreaterThanOrEqual(leastHits(RUNS * 0.5))
})
