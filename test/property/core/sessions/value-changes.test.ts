import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { looksLikeHint } from '../../../../src/core/hints/looks-like-hint.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues, ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { readChanges, writeChanges } from '../../../../src/core/sessions/near/change-text.ts'
import { applyChanges } from '../../../../src/core/sessions/near/changes-format.ts'
import { collectChanges } from '../../../../src/core/sessions/near/collect-changes.ts'
import { anyText } from '../../../support/any-text.ts'
import { readPlainly } from '../../../support/plain-changes.ts'
import { FULL_RUNS, leastHits, runs } from '../../../support/runs.ts'

/** Numbers as other programs spell them, and texts that look like something else. */
const NUMBERS = ['0', '-0', '1.0', '1e3', '1E3', '12345678901234567890', '0.1', '1e400']
const TEXTS = ['', ' ', 'null', 'NaN', '12', '1.0', '-', 'a, b', 'a: b', '"', '\\', 'x]', 'a\nb']
const HINTS = ['> [ref 9f2c41aa Read(a.ts)]', '[near-ref 0a1b2c3d, except:]', 'jobs, 3 of 8 rows:']
const spelled = fc.oneof(
  fc.constantFrom(...NUMBERS, 'null', 'true', 'false', '"\\u0041"'),
  fc.constantFrom(...TEXTS, ...HINTS).map(text => JSON.stringify(text)),
  anyText({ maxLength: 12 }).map(text => JSON.stringify(text)),
  fc.integer().map(String),
)
const KEYS = ['id', 'status', 'a b', '$', '0', '', '__proto__', 'x.y', '[0]', 'rows', ...HINTS]
const key = fc.oneof(fc.constantFrom(...KEYS), anyText({ maxLength: 6 }))

/** A JSON text that another one may differ from: scalars are numbered places. */
type Shape =
  | { readonly kind: 'scalar' }
  | { readonly kind: 'list'; readonly items: readonly Shape[] }
  | { readonly kind: 'object'; readonly keys: readonly string[]; readonly items: readonly Shape[] }

const { shape } = fc.letrec<{ shape: Shape }>(tie => ({
  shape: fc.oneof(
    { depthSize: 'small' },
    fc.constant<Shape>({ kind: 'scalar' }),
    fc.array(tie('shape'), { maxLength: 4 }).map<Shape>(items => ({ kind: 'list', items })),
    // Keys may be there twice.
    fc.array(fc.tuple(key, tie('shape')), { maxLength: 5 }).map<Shape>(all => ({
      kind: 'object',
      keys: all.map(([k]) => k),
      items: all.map(([, v]) => v),
    })),
    // Rows with the same keys.
    fc
      .tuple(fc.uniqueArray(key, { minLength: 1, maxLength: 4 }), fc.integer({ min: 2, max: 6 }))
      .map<Shape>(([keys, rows]) => {
        const row: Shape = { kind: 'object', keys, items: keys.map(() => ({ kind: 'scalar' })) }
        return { kind: 'list', items: Array.from({ length: rows }, () => row) }
      }),
  ),
}))

function write(of: Shape, next: () => string): string {
  if (of.kind === 'scalar') return next()
  const items = of.items.map(item => write(item, next))
  if (of.kind === 'list') return `[${items.join(',')}]`
  return `{${items.map((item, at) => `${JSON.stringify(of.keys[at])}:${item}`).join(',')}}`
}

const valueIn = (json: string): Value => {
  const parsed = parseJson(json)
  if (!parsed.ok) throw new Error(json)
  return parsed.value
}

/** Whether an object of the text has two members of a name, which plain readers do not know. */
function hasTwins(value: Value): boolean {
  if (Array.isArray(value)) return value.some(hasTwins)
  if (!(value instanceof ObjectValue)) return false
  return new Set(value.keys).size < value.keys.length || value.values.some(hasTwins)
}

/** Numbers as Python writes them, which the plain reader cannot parse. */
function python(json: string): string {
  return json.replace(/(?<=[:,[])(-0|1e400)(?=[\],}])/g, (_, zero) =>
    zero === '-0' ? 'NaN' : '-Infinity',
  )
}

function representsAlso(before: string, now: string): void {
  const changes = collectChanges(valueIn(before), valueIn(now))
  if (changes === null || changes.length === 0) return
  const read = readChanges(writeChanges(changes))
  expect(read).toEqual(changes)
  expect(equalValues(applyChanges(before, read!), valueIn(now))).toBe(true)
}

it('represent the very value, for our decoder and for a plain reader, or are none', () => {
  let found = 0
  fc.assert(
    fc.property(
      shape,
      fc.infiniteStream(spelled),
      fc.infiniteStream(fc.option(spelled, { freq: 3 })),
      (of, scalars, replacements) => {
        const earlier: string[] = []
        const before = write(of, () => {
          const text = scalars.next().value as string
          earlier.push(text)
          return text
        })
        let place = 0
        const now = write(of, () => {
          const old = earlier[place++]!
          return (replacements.next().value as string | null) ?? old
        })
        representsAlso(python(before), python(now))
        const changes = collectChanges(valueIn(before), valueIn(now))
        if (changes === null) return
        const list = writeChanges(changes)
        for (const line of list.split('\n')) expect(looksLikeHint(line)).toBe(false)
        if (changes.length === 0) {
          expect(writeJson(valueIn(before))).toBe(writeJson(valueIn(now)))
          return
        }
        found++
        expect(readChanges(list)).toEqual(changes)
        expect(equalValues(applyChanges(before, changes), valueIn(now))).toBe(true)
        if (hasTwins(valueIn(before))) return
        expect(readPlainly(`head\n${list}`, JSON.parse(before))).toEqual(JSON.parse(now))
      },
    ),
    { numRuns: runs(2000) },
  )
  expect(found).toBeGreaterThanOrEqual(leastHits(runs(2000) / 10))
})

describe('what is none', () => {
  const none = (before: string, now: string) => collectChanges(valueIn(before), valueIn(now))

  it.each([
    ['another key', '{"a":1}', '{"b":1}'],
    ['another order of keys', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['an item more', '{"a":[1,2]}', '{"a":[1,2,3]}'],
    ['a list for a scalar', '{"a":1}', '{"a":[1]}'],
    ['an object for null', '{"a":null}', '{"a":{}}'],
    ['a change below one of two members of a name', '{"a":1,"a":[1]}', '{"a":1,"a":[2]}'],
    ['a change of one of them', '{"a":1,"b":1,"a":1}', '{"a":1,"b":1,"a":2}'],
  ])('%s', (_, before, now) => {
    expect(none(before, now)).toBeNull()
  })

  it('a change that is nested deeper than 32; elsewhere, depth does not matter', () => {
    const nested = (inner: string) => `{"n":1,"a":${'['.repeat(256)}${inner}${']'.repeat(256)}}`
    expect(none(nested('1'), nested('2'))).toBeNull()
    const changed = none(nested('1'), nested('1').replace('"n":1', '"n":2'))
    expect(writeChanges(changed!)).toBe('n: 2')
  })
})

describe('rows', () => {
  const changed = (before: unknown, now: unknown) => {
    const [earlier, later] = [JSON.stringify(before), JSON.stringify(now)]
    const list = writeChanges(collectChanges(valueIn(earlier), valueIn(later))!)
    expect(readPlainly(`head\n${list}`, before)).toEqual(now)
    expect(writeJson(applyChanges(earlier, readChanges(list)!))).toBe(later)
    return list
  }
  const jobs = [
    { id: 880, status: 'running', runner: 'r-1', min: 1 },
    { id: 881, status: 'created', runner: null, min: 0 },
    { id: 882, status: 'created', runner: null, min: 0 },
  ]

  it('have the column that names them, and those with changes', () => {
    const now = jobs.with(0, { ...jobs[0]!, status: 'success', min: 2 })
    expect(changed({ minute: 1, jobs }, { minute: 2, jobs: now })).toBe(
      'minute: 2\njobs, 1 of 3 rows:\nid,status,min\n880,success,2',
    )
  })

  it('that are in another order are all listed by a column that did not move, or one by one', () => {
    const named = jobs.map((job, at) => ({ ...job, slot: `s${at}` }))
    const turned = named.map((job, at) => ({ ...named.at(-1 - at)!, slot: job.slot }))
    expect(changed(named, turned)).toMatch(/^\$, 2 of 3 rows:\nslot,id,/)
    expect(changed(jobs, jobs.toReversed())).toMatch(/^\$\[0\]\.id: 882\n/)
  })

  it('with ids that are there twice are listed one by one', () => {
    const twice = jobs.map(job => ({ id: 880, min: job.min }))
    expect(changed({ twice }, { twice: twice.with(1, { id: 880, min: 7 }) })).toBe(
      'twice[1].min: 7',
    )
  })

  it('with lists in them have these by their place', () => {
    const rows = jobs.map(job => ({ ...job, steps: [{ name: 'a', code: 0 }] }))
    const now = rows.with(2, { ...rows[2]!, min: 1, steps: [{ name: 'a', code: 1 }] })
    expect(changed({ rows }, { rows: now })).toBe(
      'rows[2].steps[0].code: 1\nrows, 1 of 3 rows:\nid,min\n882,1',
    )
  })

  it('take linear time: 10 MB if all runs are made, else 0.5 MB', () => {
    const count = FULL_RUNS ? 120_000 : 6_000
    const large = Array.from({ length: count }, (_, at) => ({
      id: at,
      name: `row ${at} of a long table`,
      state: 'waiting',
      of: { at, list: [at, at + 1] },
    }))
    const now = large.map(row => (row.id % 9 === 0 ? { ...row, state: 'done' } : row))
    const [earlier, later] = [JSON.stringify(large), JSON.stringify(now)]
    const start = process.cpuUsage().user
    const list = writeChanges(collectChanges(valueIn(earlier), valueIn(later))!)
    expect(list.split('\n').length).toBe(2 + Math.ceil(count / 9))
    expect(equalValues(applyChanges(earlier, readChanges(list)!), valueIn(later))).toBe(true)
    expect((process.cpuUsage().user - start) / 1e6).toBeLessThan(count / 6_000)
  })
})
