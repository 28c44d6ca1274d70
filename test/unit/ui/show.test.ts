import { expect, it } from 'vitest'
import { visible } from '../../../src/core/base/visible.ts'
import { shortened } from '../../../src/ui/show.ts'

it.each([
  ['a\u202eb', 'a\\u202eb'],
  ['\u0000\u001b[2J', '\\u0000\\u001b[2J'],
  ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
  ['\ud800', '\ufffd'],
  ['tab\tand\nline, é 😀', 'tab\tand\nline, é 😀'],
])('shows what a reader would not see of %j', (text, shown) => {
  expect(visible(text)).toBe(shown)
  expect(shortened(text, 100)).toEqual({ text: shown, rest: 0 })
})

it('counts what it does not show', () => {
  expect(shortened('abcdef', 4)).toEqual({ text: 'abcd', rest: 2 })
})
