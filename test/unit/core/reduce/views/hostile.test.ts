import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../../src/core/json/parse-json.ts'
import type { Value } from '../../../../../src/core/json/value.ts'
import { writeJson } from '../../../../../src/core/json/write-json.ts'
import { pruneValue } from '../../../../../src/core/reduce/budget/prune-value.ts'
import { applyView } from '../../../../../src/core/reduce/views/apply-view.ts'
import { compileView } from '../../../../../src/core/reduce/views/compile-views.ts'
import { compileName, PathMatcher } from '../../../../../src/core/reduce/views/globs.ts'
import { keysOf, namedBy } from '../../../../../src/core/reduce/views/view-facts.ts'
import { viewFile } from '../../../../../src/core/reduce/views/view-schema.ts'
import { runs } from '../../../../support/runs.ts'

type Rule = Record<string, unknown>

/** Whether a value is another one without some of its parts, or with texts that were cut. */
function isPart(part: unknown, all: unknown): boolean {
  if (typeof part === 'string' && typeof all === 'string') {
    const [kept, cut] = part.split(/ ?…\[\+\d+ chars\]$/)
    return cut === undefined ? part === all : all.startsWith(kept!)
  }
  if (Array.isArray(part) && Array.isArray(all)) {
    let at = 0
    return part.every(each => {
      while (at < all.length && !isPart(each, all[at])) at++
      return at++ < all.length
    })
  }
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part === all
  if (typeof all !== 'object' || all === null || Array.isArray(all)) return false
  const members = new Map<string, unknown>(Object.entries(all))
  return Object.entries(part).every(
    ([key, each]) => members.has(key) && isPart(each, members.get(key)),
  )
}
const viewWith = (...standard: Rule[]) =>
  compileView(viewFile.parse({ view: [{ name: 'v', has: ['a'], standard }] }).view[0]!)

/** What a rule shows of a JSON text; the text itself if nothing goes or nothing would stay. */
function show(json: string, rules: Rule | Rule[], args?: unknown): string {
  const { value } = parseJson(json) as { value: Value }
  const view = viewWith(...[rules].flat())
  const shown = applyView(value, view.rulesAt('standard'), namedBy(args))
  return shown === null ? json : writeJson(pruneValue(value, shown.kept).value)
}

describe('an operation', () => {
  it.each<[string, Rule, string, string]>([
    ['drop', { drop: ['b'] }, '{"a":1,"b":2}', '{"a":1}'],
    ['drop, at one place only', { drop: ['b'] }, '{"a":{"b":1},"b":2}', '{"a":{"b":1}}'],
    ['drop, anywhere', { drop: ['**.b'] }, '[{"a":{"b":1},"c":1}]', '[{"c":1}]'],
    [
      'drop, by a part of a name',
      { drop: ['**.*_url'] },
      '{"a":1,"x_url":2,"url":3}',
      '{"a":1,"url":3}',
    ],
    ['drop of a key that is there twice', { drop: ['b'] }, '{"b":1,"a":1,"b":2}', '{"a":1}'],
    ['drop of __proto__', { drop: ['__proto__'] }, '{"a":1,"__proto__":2}', '{"a":1}'],
    ['drop of a failure', { drop: ['*'.concat('x')] }, '{"a":1,"x":2}', '{"a":1}'],
    ['keep', { keep: ['a'] }, '[{"a":1,"b":2},{"a":3,"c":4}]', '[{"a":1},{"a":3}]'],
    ['keep, deeper', { keep: ['a.b'] }, '{"a":{"b":1,"c":2},"d":3}', '{"a":{"b":1}}'],
    [
      'keep in a place',
      { in: '**.u', keep: ['n'] },
      '{"a":1,"u":{"n":1,"m":2},"m":3}',
      '{"a":1,"u":{"n":1},"m":3}',
    ],
    [
      'empty',
      { empty: ['**'] },
      '{"a":1,"b":null,"c":"","d":[],"e":{},"f":0,"g":false}',
      '{"a":1,"f":0,"g":false}',
    ],
    [
      'empty, only if all items are',
      { empty: ['**'] },
      '[{"a":1,"b":null,"c":null},{"a":2,"b":3,"c":null}]',
      '[{"a":1,"b":null},{"a":2,"b":3}]',
    ],
    ['constant', { constant: { d: 'inline' } }, '{"a":1,"d":"inline"}', '{"a":1}'],
    [
      'constant with another value',
      { constant: { d: 'inline' } },
      '{"a":1,"d":"file"}',
      '{"a":1,"d":"file"}',
    ],
    ['count', { count: ['l'] }, '{"a":1,"l":[1,2,3]}', '{"a":1}'],
    [
      'items',
      { items: ['l'], first: 1, last: 1, outlying: false },
      '{"a":1,"l":[1,2,3,4,5]}',
      '{"a":1,"l":[1,5]}',
    ],
    [
      'text',
      { text: ['t'], chars: 20 },
      `{"a":1,"t":"${'word '.repeat(40)}"}`,
      `{"a":1,"t":"word word word word …[+180 chars]"}`,
    ],
    ['nothing that stays', { drop: ['a'] }, '{"a":1}', '{"a":1}'],
    ['a scalar', { drop: ['a'] }, '5', '5'],
  ])('%s', (_, rule, json, shown) => expect(show(json, rule)).toBe(shown))

  it.each<[string, string, string]>([
    ['over half is left', '{"a":1,"u":{"left":60,"of":100}}', '{"a":1}'],
    ['less is left', '{"a":1,"u":{"left":40,"of":100}}', '{"a":1,"u":{"left":40,"of":100}}'],
    ['the figures are not there', '{"a":1,"u":{"left":60}}', '{"a":1,"u":{"left":60}}'],
    [
      'they are no numbers',
      '{"a":1,"u":{"left":"60","of":"100"}}',
      '{"a":1,"u":{"left":"60","of":"100"}}',
    ],
  ])('with an exception: %s', (_, json, shown) => {
    const unless = { field: 'u.left', of: 'u.of', below: 0.5 }
    expect(show(json, { drop: ['u'], unless })).toBe(shown)
  })

  it('keeps failures and what the arguments name', () => {
    const drop = ['**.b', '**.errors', '**.status']
    expect(show('{"a":1,"c":[{"b":1},{"b":2,"error":"x"}]}', { drop })).toBe(
      '{"a":1,"c":[{"b":2,"error":"x"}]}',
    )
    expect(show('{"a":1,"c":{"status":"failed"}}', { drop })).toBe(
      '{"a":1,"c":{"status":"failed"}}',
    )
    expect(show('{"a":1,"b":{"id":1234,"x":5}}', { drop }, { id: 1234 })).toBe(
      '{"a":1,"b":{"id":1234}}',
    )
    const items = { items: ['l'], first: 1, last: 0, outlying: false }
    const list = '{"a":1,"l":["one","two","three","four","five"]}'
    expect(show(list, items, { name: 'four' })).toBe('{"a":1,"l":["one","four"]}')
    const failed = '{"a":1,"l":[{"n":1},{"n":2},{"n":3,"error":"x"},{"n":4},{"n":5}]}'
    expect(show(failed, items)).toBe('{"a":1,"l":[{"n":1},{"n":3,"error":"x"}]}')
    const all = '{"a":1,"b":2,"error":"x"}'
    expect(show(all, { drop: ['b'] })).toBe(all)
    const text = 'word '.repeat(40).trim()
    const named = JSON.stringify({ a: 1, t: text })
    expect(show(named, { text: ['t'], chars: 20 }, { query: text })).toBe(named)
  })

  it('shows parts of the value in their order, and nothing else', () => {
    const name = fc.constantFrom('a', 'b', 'c_url', '__proto__', 'status', 'error', 'l')
    const { value } = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, '', 0, 'failed', 'x'.repeat(90), '\ud800', true, 1234),
        fc.array(tie('value'), { maxLength: 6 }),
        fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: false }),
      ),
    }))
    const glob = fc.constantFrom('a', '**.b', 'a*', '**.*_url', 'a.l', '**.l', '**.a.*', 'error')
    const globs = fc.uniqueArray(glob, { minLength: 1, maxLength: 3 })
    const rule = fc.oneof(
      globs.map(drop => ({ drop })),
      globs.map(keep => ({ keep })),
      globs.map(empty => ({ empty })),
      globs.map(count => ({ count })),
      globs.map(items => ({ items, first: 1, last: 1 })),
      globs.map(text => ({ text, chars: 20 })),
    )
    const args = fc.constantFrom(undefined, { id: 1234 }, { q: 'failed a' })
    fc.assert(
      fc.property(
        value,
        fc.array(rule, { minLength: 1, maxLength: 3 }),
        args,
        (all, rules, named) => {
          const json = JSON.stringify(all)
          const shown = show(json, rules, named)
          expect(isPart(JSON.parse(shown), JSON.parse(json))).toBe(true)
        },
      ),
      { numRuns: runs(200) },
    )
  })
})

describe('globs', () => {
  it.each<[string, string, boolean]>([
    ['*', 'anything', true],
    ['a*', 'ab', true],
    ['*a', 'ba', true],
    ['a*a', 'a', false],
    ['a*b*c', 'axxbyyc', true],
    ['a*b*c', 'axxcyyb', false],
    ['ab', 'AB', false],
    ['*ab*ab', 'ab', false],
  ])('%s and %s: %s', (pattern, name, matches) => expect(compileName(pattern)(name)).toBe(matches))

  it('take no more steps for patterns that could go back', () => {
    let looks = 0
    const name = new (class extends String {
      override indexOf(search: string, from?: number): number {
        looks++
        return super.indexOf(search, from)
      }
    })('a'.repeat(200)) as unknown as string
    expect(compileName(`${'a*'.repeat(60)}b`)(name)).toBe(false)
    expect(compileName(`${'*a'.repeat(60)}*b*`)(name)).toBe(false)
    expect(looks).toBeLessThanOrEqual(62)
  })

  it('have no more places than their steps, however deep a value is', () => {
    const matcher = new PathMatcher(['**.a.**.a.**.a.**.a.**.b', '**.*a*.**'])
    let state = matcher.start
    for (let depth = 0; depth < 5_000; depth++) state = matcher.step(state, `${depth % 2}a`)
    for (let depth = 0; depth < 5_000; depth++) state = matcher.step(state, 'a')
    expect(state.places.length).toBeLessThanOrEqual(2 * 14)
    expect(matcher.step(state, 'b').accepts.has(0)).toBe(true)
  })

  it('remember a bounded number of names', () => {
    const matcher = new PathMatcher(['**.b'])
    for (let at = 0; at < 50_000; at++) matcher.step(matcher.start, `k${at}`)
    expect(matcher.start.next.size).toBe(20_000)
    expect(matcher.step(matcher.start, 'b').accepts.has(0)).toBe(true)
  })
})

it('names of fields are bounded', () => {
  const keys = Array.from({ length: 20_000 }, (_, at) => `"k${at}":{"x":1}`)
  const { value } = parseJson(`{${keys.join(',')}}`) as { value: Value }
  expect(keysOf(value).size).toBeLessThanOrEqual(20_001)
})
