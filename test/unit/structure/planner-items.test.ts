import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PLANNER_ITEMS } from './planner-items.ts'

const root = new URL('../../../', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, root), 'utf8')

/** How a test cites what it is of. */
const CITATION = /SOURCES\.md#planner|contract, section [5-9]/i

describe('the items of the design document of the planner', () => {
  it.each(Object.entries(PLANNER_ITEMS))(
    'have tests that cite it, or a reason: %s',
    (_, { tests, reason }) => {
      for (const file of tests) expect(read(file), file).toMatch(CITATION)
      expect(tests.length > 0 || reason !== undefined).toBe(true)
    },
  )

  it('are all nine patterns, each annotation, and all commands', () => {
    const text = Object.keys(PLANNER_ITEMS).join('\n')
    for (let pattern = 1; pattern <= 9; pattern++) {
      expect(text).toMatch(new RegExp(`patterns? [^)]*\\b${pattern}\\b`))
    }
    const items = [
      ...['value models', 'value classes', 'field groups', 'costs', 'follow-ups', 'invalidation'],
      ...['fail-fast', 'knapsack', 'prerequisites', 'race', 'shutdown', 'hosts', 'effectiveness'],
      ...['R7', 'tune cite', 'tune mine --tools', 'boost by intent'],
    ]
    for (const item of items) expect(text).toContain(item)
  })
})

describe('SOURCES.md', () => {
  const page = read('SOURCES.md')
  const files = globSync('{src,test,bench}/**/*.ts', { cwd: root })

  it('has every section that a comment cites', () => {
    const cited = files.flatMap(file => read(file).match(/(?<=SOURCES\.md#)[a-z]+/g) ?? [])
    expect(cited.length).toBeGreaterThan(50)
    for (const anchor of new Set(cited)) expect(page.toLowerCase()).toContain(`\n## ${anchor}\n`)
  })

  it('is cited by section, and not by the number of a document', () => {
    const numbers = files.filter(file => /\bseed 0{2}\d/i.test(read(file)))
    expect(numbers).toEqual([])
  })
})
