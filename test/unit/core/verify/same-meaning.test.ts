import { describe, expect, it } from 'vitest'
import { jsonValue, sameMeaning } from '../../../../src/core/verify/same-meaning.ts'

/** Lists in lists, so many. */
const deep = (depth: number, inner = '') => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`

describe('a JSON text', () => {
  it('is read however deep a service reads it', () => {
    // One more than the parser reads unless it is told.
    expect(jsonValue(deep(513))).toBeDefined()
    expect(jsonValue(deep(1_000))).toBeDefined()
    expect(jsonValue(deep(1_001))).toBeUndefined()
  })

  it.each(['', 'text', '{"a":1', '[1] [2]'])('is not %j', text => {
    expect(jsonValue(text)).toBeUndefined()
  })
})

describe('a decoded text', () => {
  const json = (content: string) => ({ content, media_type: 'application/json' }) as const
  const plain = (content: string) => ({ content, media_type: 'text/plain' }) as const

  it.each([
    ['the same value in other white space', '{ "a": [1, 2] }', json('{"a":[1,2]}')],
    ['the same value, deep', deep(900, ' 1 '), json(deep(900, '1'))],
    ['the same characters', 'text', plain('text')],
    ['the same characters as JSON', 'text', json('text')],
  ])('is the original: %s', (_, original, decoded) => {
    expect(sameMeaning(original, decoded)).toBe(true)
  })

  it.each([
    ['another value', '{"a":[1,2]}', json('{"a":[2,1]}')],
    ['another value, deep', deep(900, ' 1 '), json(deep(900, '2'))],
    ['another depth', deep(900), json(deep(899))],
    ['other white space in plain text', '[1, 2]', plain('[1,2]')],
    ['text in place of JSON', '[1, 2]', json('[1,2')],
    ['JSON in place of text', '[1,2', json('[1,2]')],
    ['two texts that are no JSON', 'one', json('two')],
  ])('is not the original: %s', (_, original, decoded) => {
    expect(sameMeaning(original, decoded)).toBe(false)
  })
})
