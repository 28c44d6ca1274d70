import { describe, expect, it } from 'vitest'
import { chunkIndexes, rangesOf, runOf } from '../../../../../src/core/reduce/trim/chunk-index.ts'
import type { ItemList } from '../../../../../src/core/reduce/trim/item-document.ts'

const list: ItemList = {
  kind: 'diff',
  tokens: Array.from({ length: 52 }, () => 1),
  summarize: items => `${items.length} files`,
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const chunks = [range(0, 15), range(15, 30), range(30, 42), range(42, 52)]

describe('the index of chunks', () => {
  it('lists every chunk, and gets shorter step by step', () => {
    const close =
      '[/chunks] Use `chunk: N` parameter to fetch a specific chunk. You may not need all chunks.'
    const [full, bare, near, least, ...none] = chunkIndexes({ list, chunks, returned: 0 })
    expect(full!.split('\n')).toEqual([
      '[chunks] 15/52 diffs in 4 chunks:',
      '  chunk 1 (offset=0, limit=15): 15 files << returned in this response',
      '  chunk 2 (offset=15, limit=15): 15 files',
      '  chunk 3 (offset=30, limit=12): 12 files',
      '  chunk 4 (offset=42, limit=10): 10 files',
      close,
    ])
    expect(bare).toContain('\n  chunk 2 (offset=15, limit=15)\n')
    expect(near).toContain('\n  chunk 3 (offset=30, limit=12)\n  chunks 4-4\n')
    expect(least).toBe(`[chunks] 15/52 diffs in 4 chunks:\n${close}`)
    expect(none).toEqual([])
  })

  it('lists of a later chunk that one', () => {
    const [full] = chunkIndexes({ list, chunks, returned: 2 })
    expect(full!.split('\n').slice(0, -1)).toEqual([
      '[chunks] 12/52 diffs in 4 chunks:',
      '  chunk 3 (offset=30, limit=12): 12 files << returned in this response',
    ])
  })

  it('says where items are that do not follow one another', () => {
    const scattered = [[0, 7, 51], [], range(1, 7)]
    const [full] = chunkIndexes({ list, chunks: scattered, returned: 0 })
    expect(full).toContain('chunk 1 (3 within offset 0-51): 3 files')
    expect(full).toContain('chunk 3 (offset=1, limit=6)')
  })
})

describe('runs of items', () => {
  it('are one or none, or half-open ranges', () => {
    expect(runOf([3, 4, 5])).toEqual({ offset: 3, limit: 3 })
    expect(runOf([3, 5])).toBeNull()
    expect(runOf([])).toEqual({ offset: 0, limit: 0 })
    expect(rangesOf([0, 1, 2, 5, 7, 8])).toEqual([
      [0, 3],
      [5, 6],
      [7, 9],
    ])
  })
})
