import { describe, expect, it } from 'vitest'
import { createNeeds } from '../../../../src/lab/bill/needs.ts'

const line = (at: number) => `the long line with the number ${at}`
const read = (...ats: readonly number[]) => ({
  ...{ tool: 'Read', args: { path: 'a' } },
  text: ats.map(line).join('\n'),
})
const edit = (at: number) => ({
  ...{ tool: 'Edit', args: { old_string: line(at), new_string: line(at + 1_000) } },
  text: 'done',
})
const MARKER = '> [1 lines not shown | hash=0123456789abcdef01234567]'

describe('what edits need', () => {
  it('is nothing that can be read', () => {
    const needs = createNeeds()
    needs.pass(read(1, 2), read(1, 2).text)
    expect(needs.fetchFor([edit(1), edit(3)])).toEqual([])
  })

  it('is what a marker left out, once', () => {
    const needs = createNeeds()
    needs.pass(read(1, 2), `${line(1)}\n${MARKER}`)
    expect(needs.fetchFor([edit(1)])).toEqual([])
    expect(needs.fetchFor([edit(2)])).toEqual([0])
    needs.pass(read(1, 2), `${line(1)}\n${MARKER}`)
    expect(needs.fetchFor([edit(2)])).toEqual([])
  })

  it('is a cleared result, the newest that has the line', () => {
    const needs = createNeeds()
    for (let at = 0; at < 2; at++) {
      needs.pass(read(1, 2), read(1, 2).text)
      needs.clear(at)
    }
    expect(needs.fetchFor([read(1), edit(1), edit(2)])).toEqual([1])
  })

  it('is nothing that another result shows, or that a call wrote', () => {
    const needs = createNeeds()
    needs.pass(read(1, 2), read(1, 2).text)
    needs.clear(0)
    needs.pass(read(1), read(1).text)
    needs.pass(edit(1_002), 'done')
    needs.pass({ ...edit(5), args: { content: line(2) } }, 'done')
    expect(needs.fetchFor([edit(1), edit(2)])).toEqual([])
  })
})
