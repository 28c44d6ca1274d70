import { expect, it } from 'vitest'
import { argumentBodies } from '../../../../../src/core/sessions/lines/argument-bodies.ts'

const LONG = 'const value = await compute()\n'.repeat(10)

it('finds long texts and says where they are', () => {
  const args = {
    file_path: '/src/a.ts',
    content: LONG,
    edits: [{ old_string: 'x', new_string: `${LONG}1` }, { new_string: `${LONG}2` }],
    replace_all: true,
    nothing: null,
  }
  expect(argumentBodies(args)).toEqual([
    { name: 'content', text: LONG },
    { name: 'edits[0].new_string', text: `${LONG}1` },
    { name: 'edits[1].new_string', text: `${LONG}2` },
  ])
})

it.each([[undefined], [null], [7], ['short'], [{}], [[]]])('finds none in %j', args => {
  expect(argumentBodies(args)).toEqual([])
})

it('looks at a bounded number of values, and not too deep', () => {
  const many = Array.from({ length: 5000 }, () => LONG)
  expect(argumentBodies(many)).toHaveLength(999)
  let deep: unknown = LONG
  for (let level = 0; level < 50_000; level++) deep = [deep]
  expect(argumentBodies(deep)).toEqual([])
})
