import { describe, expect, it } from 'vitest'
import { EMPTY_OBJECT, member, withMember, withoutMember } from '../../../src/mcp/members.ts'

const bytes = (text: string) => Buffer.from(text)
const text = (value: Buffer | null | undefined) => value?.toString() ?? value

/** No objects, or objects that two parsers may read differently. */
const UNREADABLE = ['', '[]', '1', '{"a":1', '{"a":1}x', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}']

describe('member', () => {
  it.each([
    ['{"a":12345678901234567890}', '12345678901234567890'],
    ['{ "b" : {"a":1} , "a" : 1.0 }', '1.0'],
    ['{"\\u0061":"é"}', '"é"'],
    ['{"a":null}', 'null'],
    ['{"b":{"a":1}}', undefined],
    ['{}', undefined],
  ])('of %s is %s', (object, value) => {
    expect(text(member(bytes(object), 'a'))).toBe(value)
  })

  it.each(UNREADABLE)('refuses %s', object => {
    expect(member(bytes(object), 'a')).toBeNull()
  })

  it('reads an object that has another member twice', () => {
    expect(text(member(bytes('{"b":1,"b":2,"a":3}'), 'a'))).toBe('3')
  })
})

describe('withMember', () => {
  it.each([
    ['{}', '{"a":1.0}'],
    [' { } ', ' { "a":1.0} '],
    ['{"b" : 2.50}', '{"b" : 2.50,"a":1.0}'],
    ['{"b":2,"a" : {"x":[]} ,"c":3}', '{"b":2,"a" : 1.0 ,"c":3}'],
    ['{"\\u0061":0}', '{"\\u0061":1.0}'],
  ])('turns %s into %s', (object, changed) => {
    expect(text(withMember(bytes(object), 'a', '1.0'))).toBe(changed)
    expect(text(withMember(bytes(object), 'a', bytes('1.0')))).toBe(changed)
  })

  it('a member is added with its name escaped', () => {
    expect(text(withMember(EMPTY_OBJECT, 'a"b', '[]'))).toBe('{"a\\"b":[]}')
  })

  it.each(UNREADABLE)('refuses %s', object => {
    expect(withMember(bytes(object), 'a', '1')).toBeNull()
  })
})

describe('withoutMember', () => {
  it.each([
    ['{"a":1}', '{}'],
    ['{ "a" : 1 }', '{  }'],
    ['{"a":1,"b":2}', '{"b":2}'],
    ['{"b":2 , "a":1}', '{"b":2 }'],
    ['{"b":2,"a":1 , "c":3}', '{"b":2, "c":3}'],
    ['{"b":",","a":1}', '{"b":","}'],
    ['{"b":{"a":1}}', '{"b":{"a":1}}'],
  ])('turns %s into %s', (object, changed) => {
    expect(text(withoutMember(bytes(object), 'a'))).toBe(changed)
  })

  it.each(UNREADABLE)('refuses %s', object => {
    expect(withoutMember(bytes(object), 'a')).toBeNull()
  })
})
