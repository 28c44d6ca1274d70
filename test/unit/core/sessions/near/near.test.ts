import { describe, expect, it } from 'vitest'
import type { Change } from '../../../../../src/core/hints/hint.ts'
import { NumberLiteral } from '../../../../../src/core/json/value.ts'
import { findChanges, restoreNear } from '../../../../../src/core/sessions/near/find-changes.ts'

const LOG = 'Fetching the dependencies of every package in the workspace. '.repeat(9)
const JOB = { id: 7, status: 'pending', log: LOG, steps: [{ name: 'build', code: null }], 'a b': 1 }

const json = (value: unknown, indent?: number) => JSON.stringify(value, null, indent)

describe('near references', () => {
  it.each<[string, unknown, readonly Change[]]>([
    ['a key', { ...JOB, status: 'success' }, [{ path: 'status', from: 'pending', to: 'success' }]],
    [
      'a nested scalar, of another type',
      { ...JOB, steps: [{ name: 'build', code: 0 }] },
      [{ path: '$.steps[0].code', from: null, to: 0 }],
    ],
    [
      'several',
      { ...JOB, id: 8, steps: [{ name: 'test', code: null }] },
      [
        { path: 'id', from: 7, to: 8 },
        { path: '$.steps[0].name', from: 'build', to: 'test' },
      ],
    ],
    ['a key that is no name', { ...JOB, 'a b': true }, [{ path: 'a b', from: 1, to: true }]],
  ])('%s', (_, later, changes) => {
    for (const indent of [0, 2]) {
      expect(findChanges(json(JOB, indent), json(later, indent))).toEqual(changes)
      expect(restoreNear(json(JOB, indent), changes)).toBe(json(later, indent))
    }
  })

  it('keeps the spelling of numbers', () => {
    const [earlier, later] = ['1.0', '12345678901234567890'].map(n => `{"n":${n},"log":"${LOG}"}`)
    const changes = findChanges(earlier!, later!)!
    expect(changes[0]?.from).toEqual(new NumberLiteral('1.0'))
    expect(restoreNear(earlier!, changes)).toBe(later)
  })

  const base = json(JOB)
  it.each<[string, string, string]>([
    ['equal texts', base, base],
    ['another key', base, base.replace('"id"', '"no"')],
    ['another order', base, json(Object.fromEntries(Object.entries(JOB).reverse()))],
    ['a key more', base, json({ ...JOB, more: 1 })],
    ['an item more', base, json({ ...JOB, steps: [...JOB.steps, 1] })],
    ['a container for a scalar', base, json({ ...JOB, id: [7] })],
    ['an empty container for another', json({ a: [], log: LOG }), json({ a: {}, log: LOG })],
    ['a list above the bound', base, json({ ...JOB, status: 'x'.repeat(40) })],
    ['another layout', base, json({ ...JOB, id: 8 }, 2)],
    [
      'a spelling of a string that JSON is not written in',
      base,
      base.replace('pending', '\\u0070'),
    ],
    ['two members of one name', `{"a":1,"a":1,"l":"${LOG}"}`, `{"a":1,"a":2,"l":"${LOG}"}`],
    ['arrays at the top', json([JOB]), json([{ ...JOB, id: 8 }])],
    ['short bodies', '{"a":1}', '{"a":2}'],
    ['no JSON', `${base}}`, `${base.replace('7', '8')}}`],
    ['no literal', base.replace('null', 'nil'), base.replace('null', 'nul')],
    ['a lone quote', `{"a": "${LOG}`, `{"b": "${LOG}`],
  ])('declines %s', (_, earlier, later) => {
    expect(findChanges(earlier, later)).toBeNull()
  })

  it.each<[string, Change]>([
    ['no such path', { path: 'nothing', from: 7, to: 8 }],
    ['another value there', { path: 'id', from: 6, to: 8 }],
    ['a container there', { path: 'steps', from: 7, to: 8 }],
  ])('cannot restore: %s', (_, change) => {
    expect(() => restoreNear(base, [change])).toThrow(
      expect.objectContaining({ code: 'not_decodable' }),
    )
  })

  it('is linear in nesting too', () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)},"log":"${LOG}","n":1}`
    expect(findChanges(deep, deep.replace('"n":1', '"n":2'))).toBeNull()
    const inner = `{"a":${'['.repeat(400)}${'7,'.repeat(50_000)}7${']'.repeat(400)},"n":7}`
    expect(findChanges(inner, inner.replace('"n":7', '"n":8'))).toEqual([
      { path: 'n', from: 7, to: 8 },
    ])
  })
})
