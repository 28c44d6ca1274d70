import { expect, test } from 'vitest'
import { createRowWalk } from '../../../../src/store/sqlite/salvage.ts'

/** A walk over rows with these ids, of which looking after some cannot be done. */
function walkOver(ids: readonly number[], isBad: (id: number) => boolean = () => false) {
  const asked: number[] = []
  const walk = createRowWalk(id => {
    asked.push(id)
    if (isBad(id)) throw new Error('damaged')
    const next = ids.find(each => each > id)
    return next === undefined ? undefined : { id: next }
  })
  const found: number[] = []
  for (let row = walk.next(); row !== undefined; row = walk.next()) found.push(Number(row['id']))
  return { walk, found, asked }
}

test('a sound table is walked with one look a row', () => {
  const { walk, found, asked } = walkOver([1, 2, 7])
  expect(found).toEqual([1, 2, 7])
  expect(asked).toEqual([0, 1, 2, 7])
  expect(walk.gaps).toBe(0)
})

test.each([1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 1000])(
  'a gap of %i ids is passed over, and not one row after it',
  length => {
    const ids = Array.from({ length: 2100 }, (_, i) => i + 1)
    const { walk, found } = walkOver(ids, id => id >= 10 && id < 10 + length)
    // Looking after 10 is what fails first, so 11 is lost at least.
    expect(found).toEqual(ids.filter(id => id <= 10 || id > 10 + length))
    expect(walk.gaps).toBe(1)
  },
)

test('a table that cannot be read to its end is one gap, and the walk ends', () => {
  const { walk, found, asked } = walkOver([1, 2, 3], id => id >= 2)
  expect(found).toEqual([1, 2])
  expect(walk.gaps).toBe(1)
  expect(asked.length).toBeLessThan(60)
})

test('a table that cannot be read at all is one gap', () => {
  const { walk, found } = walkOver([1, 2, 3], () => true)
  expect(found).toEqual([])
  expect(walk.gaps).toBe(1)
})

test('a gap at the end hides no row', () => {
  const { walk, found } = walkOver([1, 2, 3], id => id >= 3 && id < 10)
  expect(found).toEqual([1, 2, 3])
  expect(walk.gaps).toBe(1)
})

test('a row that leads back, or to itself, is a gap and no loop', () => {
  for (const wrong of [1, 2]) {
    const rows: Record<number, number> = { 0: 1, 1: 2, 2: wrong, 3: 4, 4: 5 }
    const walk = createRowWalk(id => (rows[id] === undefined ? undefined : { id: rows[id] }))
    const found: unknown[] = []
    for (let row = walk.next(); row !== undefined; row = walk.next()) found.push(row['id'])
    expect(found).toEqual([1, 2, 4, 5])
    expect(walk.gaps).toBe(1)
  }
})

test('a row without an id is a gap', () => {
  const walk = createRowWalk(id => (id === 0 ? { name: 'x' } : id < 5 ? { id: 5 } : undefined))
  expect(walk.next()).toEqual({ id: 5 })
  expect(walk.next()).toBeUndefined()
  expect(walk.gaps).toBe(1)
})
