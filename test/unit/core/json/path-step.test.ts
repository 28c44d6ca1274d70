import { expect, it } from 'vitest'
import { writePathStep } from '../../../../src/core/json/write-json.ts'
import { parsePath } from '../../../../src/core/parts/path-steps.ts'

it.each([
  ['name', '.name'],
  ['_a1', '._a1'],
  ['1a', '["1a"]'],
  ['a b', '["a b"]'],
  ['', '[""]'],
  ['é', '["é"]'],
  ['"\\\n', '["\\"\\\\\\n"]'],
  [0, '[0]'],
  [12, '[12]'],
])('%j is written as %s', (step, written) => {
  expect(writePathStep(step)).toBe(written)
  const [read] = parsePath(`$${written}`)
  expect(read).toMatchObject(
    typeof step === 'number' ? { kind: 'index', at: step } : { kind: 'member', name: step },
  )
})
