import { describe, expect, it } from 'vitest'
import { csv } from '../../../../src/core/formats/json/csv.ts'
import { tree } from '../../../../src/core/formats/json/tree/tree.ts'
import { markdown } from '../../../../src/core/formats/text/markdown.ts'
import { ndjson } from '../../../../src/core/formats/text/ndjson.ts'
import {
  countOf,
  countUpTo,
  createWorkBudget,
  extentOf,
} from '../../../../src/core/formats/work.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { explain } from '../../../../src/index.ts'

const MANY = 20_000

function extentOfJson(text: string) {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(text)
  return extentOf(parsed.value, text.length)
}

describe('an extent', () => {
  it.each([
    ['1', 0, 1],
    ['[]', 1, 1],
    ['[1,{"a":[2,3]}]', 3, 6],
    ['["[[],{}] in a string", "a [b]"]', 6, 3],
  ])('of %s', (text, containers, members) => {
    expect(extentOfJson(text)).toEqual({ chars: text.length, containers, members })
  })
})

describe('a budget', () => {
  it('grows with the content, and gives nothing that it has not', () => {
    const [small, large] = [createWorkBudget(0), createWorkBudget(1e6)]
    expect(small.take(1e9)).toBe(false)
    expect(small.take(1e6)).toBe(true)
    expect(large.take(1e8)).toBe(true)
    expect(large.take(2e8)).toBe(false)
  })

  it('has room for ordinary content, and a small part of what dense content would take', () => {
    const rows = JSON.stringify(
      Array.from({ length: MANY }, (_, id) => ({ id, name: `name ${id}`, tags: ['a', 'bc'] })),
    )
    const dense = `[${'[],'.repeat(MANY)}0]`
    for (const format of [csv, tree]) {
      const steps = format.steps?.(extentOfJson(rows)) ?? 0
      expect(createWorkBudget(rows.length).take(steps)).toBe(true)
    }
    const steps = tree.steps?.(extentOfJson(dense)) ?? 0
    expect(createWorkBudget(dense.length).take(steps)).toBe(false)
    const log = '{"time":"2026-01-02T03:04:05Z","level":"info"}\n'.repeat(MANY)
    expect(createWorkBudget(log.length).take(ndjson.steps?.(log) ?? 0)).toBe(true)
    const table = '| name | state | owner |\n'.repeat(MANY)
    expect(createWorkBudget(table.length).take(markdown.steps?.(table) ?? 0)).toBe(true)
  })
})

describe('content that is denser than the budget allows', () => {
  it.each([
    ['empty lists', `[${'[],'.repeat(MANY)}0]`, 'tree@2'],
    ['rows of empty cells', `|a|b|\n|-|-|\n${'|||\n'.repeat(MANY)}`, 'md@1'],
  ])('goes without the candidate: %s', (_, content, format) => {
    const formats = [format, format.replace(/@.*/, '')]
    const { candidates } = explain({ content, formats })
    expect(candidates.find(candidate => candidate.format === format)?.verdict).toBe('declined')
    expect(explain({ content, formats }).candidates).toEqual(candidates)
  })

  it('is tried if it is short', () => {
    const { candidates } = explain({ content: `[${'[],'.repeat(300)}0]` })
    expect(candidates.find(({ format }) => format === 'tree@2')?.verdict).not.toBe('declined')
  })

  it('is weighed inside of a text, too', () => {
    const line = `{"a":[${'[],'.repeat(50)}0]}\n`
    const { candidates } = explain({ content: line.repeat(1000), formats: ['ndjson', 'tree'] })
    expect(candidates).toEqual([
      expect.objectContaining({ layer: 'L2', format: 'ndjson@1', verdict: 'declined' }),
    ])
  })
})

it.each([
  ['', 0],
  ['a', 0],
  ['</', 1],
  ['</</a</', 3],
])('counts what stands in %j, and stops after enough', (text, times) => {
  expect(countOf(text, '</')).toBe(times)
  expect([0, 1, 2, 3, 4].map(most => countUpTo(text, '</', most))).toEqual(
    [0, 1, 2, 3, 4].map(most => Math.min(most, times)),
  )
})
