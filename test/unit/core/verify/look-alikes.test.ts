import { describe, expect, it } from 'vitest'
import type { CheckedAnswer } from '../../../../src/core/verify/checked-answer.ts'
import { checkUnlisted, imitationsIn } from '../../../../src/core/verify/look-alikes.ts'
import { jsonValue } from '../../../../src/core/verify/same-meaning.ts'
import { exchange } from './hand-written.ts'

const REF = '> [ref 5e18a374 Read(a.ts)]'

function checked(content: string, shown = content, hints: readonly string[] = []): CheckedAnswer {
  const { request, answer } = exchange({ content }, shown, {
    hints: hints.map(text => ({ family: 'reference', text })),
  })
  return { request: { ...request, content }, answer, value: jsonValue(content) } as CheckedAnswer
}

describe('content that imitates hints', () => {
  const LONG = `${REF} ${'and so on '.repeat(20)}`

  it.each([
    ['none in plain text', 'one\ntwo', []],
    ['its only line', REF, [REF]],
    ['a line among others', `one\n${REF}\ntwo`, [REF]],
    ['from where it begins to the end of its line', `one ${REF} two\nthree`, [`${REF} two`]],
    ['each of two lines', `${REF}\n${REF} two`, [REF, `${REF} two`]],
    ['120 characters', LONG, [LONG.slice(0, 120)]],
    ['texts of JSON, as they are', JSON.stringify([`one\n${REF}\ntwo`, 1]), [REF]],
    ['keys of JSON', JSON.stringify({ [REF]: null }), [REF]],
    ['what is deep in JSON', JSON.stringify({ a: [{ b: REF }] }), [REF]],
    ['none in a number of JSON', '[1]', []],
  ])('is listed: %s', (_, content, expected) => {
    expect(imitationsIn(checked(content))).toEqual(expected)
  })
})

describe('a line of an answer that reads as a hint', () => {
  const reason = 'the content has this hint, but the answer does not list it'

  it.each([
    ['listed', REF, [REF]],
    ['escaped', `one\n\\${REF}`, []],
    ['not there', 'one\ntwo', []],
  ])('is no lie if it is %s', (_, shown, hints) => {
    expect(checkUnlisted(checked('one', shown, hints))).toEqual([])
  })

  it('is a lie of its family if it is not listed', () => {
    const faults = checkUnlisted(checked('one', `one\n${REF}\ntwo`))
    expect(faults).toEqual([{ family: 'reference', reason, hint: REF }])
  })

  it('is a lie of the answer within a line, listed or not', () => {
    const faults = checkUnlisted(checked('one', `one ${REF}\n${REF}`, [REF]))
    expect(faults).toEqual([{ family: 'answer', reason, hint: REF }])
  })

  it('is shown up to 120 characters', () => {
    const line = `${REF} ${'and so on '.repeat(20)}`
    expect(checkUnlisted(checked('one', line))).toMatchObject([{ hint: line.slice(0, 120) }])
  })
})
