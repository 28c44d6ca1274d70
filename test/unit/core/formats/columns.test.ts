import { describe, expect, it } from 'vitest'
import { columns } from '../../../../src/core/formats/text/columns.ts'
import { lengthCounter } from '../../../support/length-counter.ts'

const tools = { counter: lengthCounter(1), formats: [] }
const TABLE = ['NAME     READY   AGE', 'web-1    1/1     17d', 'web-2    0/1     3h']

function written(lines: readonly string[]): readonly string[] | undefined {
  const text = lines.join('\n')
  const [first] = columns.encode(text, tools)
  if (first === undefined) return undefined
  expect(columns.decode(first.content, first.style, text.length)).toBe(text)
  return first.content.split('\n')
}

describe('a table of columns', () => {
  const table = written(TABLE)

  it('is written without its padding', () => {
    expect(table?.[0]).toBe('[2 ]:')
    expect(table?.join('\n').includes('  ')).toBe(false)
  })

  it.each([['  '], ['      ']])('is written if its lines are indented by %j', indent => {
    expect(written(TABLE.map(line => indent + line))).toEqual(table)
  })

  it.each([[''], ['\r'], [' \t'], ['\u00a0']])('ends at a blank line, such as %j', blank => {
    const around = ['some words', blank, ...TABLE, blank, 'a line', blank, ...TABLE, blank]
    const expected = ['some words', blank, ...table!, blank, 'a line', blank, ...table!, blank]
    expect(written(around)).toEqual(expected)
  })

  it('is as it was if too few of its lines have a gap', () => {
    expect(written(['one', 'two', 'three', 'four', 'five', 'six', ...TABLE])).toBe(undefined)
  })
})
