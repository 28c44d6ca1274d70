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
const { value } = fc.letrec<{ value: string }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    number,
    fc.string().map(text => JSON.stringify(text)),
    fc.constantFrom('null', 'true', '{}', '[]'),
    fc.array(tie('value'), { maxLength: 4 }).map(all => `[${all.join(',')}]`),
    tie('value').map(inner => `{"a":${inner},"__proto__":${inner}}`),
  ),
}))

it('numbers are written as they came', () => {
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
