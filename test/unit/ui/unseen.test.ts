import { describe, expect, it } from 'vitest'
import { visible } from '../../../src/core/base/visible.ts'
import { shortened } from '../../../src/ui/show.ts'

describe('what would not be seen', () => {
  it.each([
    ['a control', '\u0000\u001b[31m', '\\u0000\\u001b[31m'],
    ['an override of direction', '\u202eabc', '\\u202eabc'],
    ['an Arabic mark of direction', '\u061cabc', '\\u061cabc'],
    ['a soft hyphen', 'a\u00adb', 'a\\u00adb'],
    ['a deprecated mark', '\u206eabc', '\\u206eabc'],
    ['tags, which models read', '\u{e0041}\u{e0042}', '\\u{e0041}\\u{e0042}'],
    ['a separator of lines', '\u2028', '\\u2028'],
    ['a lone surrogate', '\ud800', '\ufffd'],
  ])('is shown: %s', (_, text, shown) => expect(visible(text)).toBe(shown))

  it('is not text, tabs and ends of lines', () => {
    const text = 'Grüße, 世界 🎒\tx\ny'
    expect(visible(text)).toBe(text)
    expect(shortened(text, 4)).toEqual({ text: 'Grüß', rest: text.length - 4 })
  })
})
