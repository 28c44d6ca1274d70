import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseKeepingSpelling } from '../../../../src/core/contract/envelope.ts'

const digits = fc.stringMatching(/^[0-9]{1,25}$/)
/** Any number that JSON can spell. */
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits.map(text => text.replace(/^0+(?=.)/, '')),
    fc.oneof(
      fc.constant(''),
      digits.map(text => `.${text}`),
    ),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
  )
  .map(parts => parts.join(''))
/** Some end like the start of others' escapes, which misleads V8's parser. */
const key = fc.constantFrom('\\', '"', '\n', 'a\\', 'a"', '\\"', '__proto__', 'a', '1', 'é\u0001')
const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 3 })
const { value } = fc.letrec<{ value: string }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    number,
    fc.string().map(text => JSON.stringify(text)),
    fc.constantFrom('null', 'true', '{}', '[]'),
    fc.array(tie('value'), { maxLength: 4 }).map(all => `[${all.join(',')}]`),
    fc.tuple(keys, tie('value')).map(([names, inner]) => {
      // Keys like those of an array are written first, whatever was parsed.
      const sorted = names.toSorted((a, b) => Number(b === '1') - Number(a === '1'))
      return `{${sorted.map(name => `${JSON.stringify(name)}:${inner}`).join(',')}}`
    }),
  ),
}))

it('numbers and keys are written as they came', () => {
  fc.assert(
    fc.property(value, text => {
      expect(JSON.stringify(parseKeepingSpelling(`{"x":[${text}]}`))).toBe(`{"x":[${text}]}`)
    }),
  )
})

it('numbers in fields of the outermost object are numbers', () => {
  fc.assert(
    fc.property(number, text => {
      expect(parseKeepingSpelling(`{"n":${text},"m":1.0}`)).toEqual({ n: Number(text), m: 1 })
      expect(parseKeepingSpelling(`{"m":[${text}]}`)).toBeTypeOf('object')
    }),
  )
  expect(parseKeepingSpelling('1e1')).toBeTypeOf('object')
})

it('an escaped key is none with a backslash that another text had there', () => {
  expect(JSON.parse('{"x":1,"\\\\":2}')).toEqual({ x: 1, '\\': 2 })
  const read = parseKeepingSpelling('{"m":{"x":1.0,"\\/":2}, "\\u006e" :3.0}')
  expect(JSON.stringify(read)).toBe('{"m":{"x":1.0,"/":2},"n":3}')
})

it('a text of nothing but escapes takes one pass, and no stack', () => {
  const text = `{"m":["${'\\n'.repeat(5_000_000)}",1.0]}`
  const { m } = parseKeepingSpelling(text) as { m: readonly unknown[] }
  expect([(m[0] as string).length, JSON.stringify(m[1])]).toEqual([5_000_000, '1.0'])
})
