import { describe, expect, test } from 'vitest'
import { endOfScalar } from '../../../../src/core/json/bytes/json-tokens.ts'

/** Whether it is one by JSON.parse, which also takes white space, strings, lists and objects. */
function isScalarByParse(text: string): boolean {
  if (/^[\s"[{]|\s$/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const isScalarText = (text: string) => {
  const bytes = new TextEncoder().encode(`1${text},`)
  return bytes.length > 2 && endOfScalar(bytes, 1) === bytes.length - 1
}

describe('words and numbers of JSON', () => {
  test.each(['true', 'false', 'null', '0', '-0', '10', '-1.50', '1e9', '2E-07', '-0.1e+1'])(
    '%s is one',
    text => expect(isScalarText(text)).toBe(true),
  )

  test.each([
    ...['', '-', '+1', '01', '-01', '.5', '1.', '1.e2', '1e', '1e+', '0x1', '1_0', 'NaN', 'nul'],
    ...['True', 'truee', 'Infinity', '1 ', ' 1', '"1"', '[]', '1,', '--1', '1e1.5', '1\u0660'],
  ])('%s is none', text => expect(isScalarText(text)).toBe(false))

  test('every text of up to five characters of numbers is one if JSON.parse takes it', () => {
    const characters = [...'-+.e01']
    let texts = ['']
    for (let length = 1; length <= 5; length++) {
      texts = texts.flatMap(text => characters.map(character => text + character))
      const wrong = texts.filter(text => isScalarText(text) !== isScalarByParse(text))
      expect(wrong).toEqual([])
    }
  })
})
