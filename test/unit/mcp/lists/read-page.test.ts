import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { items, itemsOf, RANGE } from '../../../../src/core/json/bytes/json-node.ts'
import { readJson } from '../../../../src/core/json/bytes/read-json.ts'
import { readPage, splitItems } from '../../../../src/mcp/catalogue/lists/read-list.ts'
import { runs } from '../../../support/runs.ts'

describe('a page of a list', () => {
  it('has its entries, without those that cannot be named', async () => {
    const page = await readPage(
      'tools',
      Buffer.from(
        '{"tools":[{"name":"a"},{"x":1},{"name":1},{"name":"b","name":"c"}],"nextCursor":"n"}',
      ),
    )
    expect(page?.entries.map(({ key }) => key)).toEqual(['a'])
    expect(page?.next?.toString()).toBe('"n"')
  })

  it.each(['{}', '{"tools":{}}', '[]', '{"tools":[],"tools":[]}'])('is none: %s', async result => {
    expect(await readPage('tools', Buffer.from(result))).toBeNull()
  })
})

it('splits an array as a reader of JSON does', async () => {
  const SPACE = fc.constantFrom('', ' ', '\n ')
  const ITEM = fc.tuple(SPACE, fc.json({ maxDepth: 3 }), SPACE).map(parts => parts.join(''))
  const ARRAY = fc.tuple(fc.array(ITEM), SPACE).map(([all, space]) => `[${space}${all.join(',')}]`)
  await fc.assert(
    fc.asyncProperty(ARRAY, async text => {
      const array = Buffer.from(text)
      const limits = { maxBytes: array.length, maxDepth: 100, maxValues: 1_000 }
      const wanted = itemsOf(readJson(array, items(RANGE), limits) ?? undefined)
      const found = await splitItems(array, 1_000)
      expect(found?.map(item => item.toString().trim())).toEqual(
        wanted.map(({ start, end }) => array.toString('utf8', start, end)),
      )
    }),
    { numRuns: runs(100) },
  )
})

it('gives no items of an array that has too many', async () => {
  expect(await splitItems(Buffer.from('[1,2,3]'), 2)).toBeNull()
})

it('lets the thread do other work while it reads a large page', async () => {
  const tools = Array.from(
    { length: 30_000 },
    (_, n) => `{"name":"${n}","a":[${n},{}],"b":"${'x'.repeat(50)}"}`,
  )
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const page = await readPage('tools', Buffer.from(`{"tools":[${tools.join(',')}]}`))
  isDone = true
  expect(page?.entries).toHaveLength(30_000)
  expect(turns).toBeGreaterThan(10)
})
