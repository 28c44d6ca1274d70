import { expect, it } from 'vitest'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { hasMoreNodes } from '../../../../src/core/json/value.ts'

it.each([
  ['[]', 1],
  ['{"a":1,"b":[2,{"c":null}]}', 6],
  [`[${'[],'.repeat(999)}[]]`, 1001],
  [`${'['.repeat(200)}${']'.repeat(200)}`, 200],
])('counts every node: %#', (text, nodes) => {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error('no JSON')
  expect(hasMoreNodes(parsed.value, nodes)).toBe(false)
  expect(hasMoreNodes(parsed.value, nodes - 1)).toBe(true)
})
