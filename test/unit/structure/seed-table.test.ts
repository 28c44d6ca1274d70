import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../../', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, root), 'utf8')

/** The rows of the table of docs/guide/planning.md: item, place, tests. */
const ROWS = read('docs/guide/planning.md')
  .split('## Seed 001, item by item')[1]!
  .split('\n')
  .filter(line => line.startsWith('| ') && !line.startsWith('| item '))
  .map(line => line.split('|').slice(1, -1) as [string, string, string])

/** How a test cites what it is of. */
const CITATION = /seed 001|contract, section [5-9]|issue 20/i

// Issue 20, "What must exist", 7: all of the seed has a test that cites it, or a reason.
describe('the table of seed 001', () => {
  it.each(ROWS)('has tests that cite it, or a reason: %s', (_, place, tests) => {
    const files = [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file as string)
    for (const file of files) expect(read(file), file).toMatch(CITATION)
    const isElsewhere = /left out: \S|\]\(/.test(place)
    expect(files.length > 0 || isElsewhere).toBe(true)
  })

  it('has all nine patterns, each annotation, and all commands', () => {
    const text = ROWS.flat().join('\n')
    for (let pattern = 1; pattern <= 9; pattern++) {
      expect(text).toMatch(new RegExp(`patterns? [^)]*\\b${pattern}\\b`))
    }
    const items = [
      ...['value models', 'value classes', 'field groups', 'costs', 'follow-ups', 'invalidation'],
      ...['fail-fast', 'knapsack', 'prerequisites', 'race', 'shutdown', 'hosts', 'effectiveness'],
      ...['R7', 'tune cite', 'tune mine --tools', 'replay --enrichment', 'boost by intent'],
    ]
    for (const item of items) expect(text).toContain(item)
  })
})
