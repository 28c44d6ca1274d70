import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findTables } from '../../../../src/core/formats/text/templated/find-templates.ts'
import {
  familiesAmong,
  likePlaces,
  readTemplates,
} from '../../../../src/core/formats/text/templated/line-templates.ts'
import { lengthCounter } from '../../../support/length-counter.ts'
import { leastHits, runs } from '../../../support/runs.ts'

const RUNS = runs(3_000)

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
