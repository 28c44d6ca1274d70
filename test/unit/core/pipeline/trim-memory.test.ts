import { describe, expect, it } from 'vitest'
import { cutsOf } from '../../../../src/core/reduce/budget/cuts.ts'
import { addTextChain, createTreeBuilder } from '../../../../src/core/reduce/trim/tree-builder.ts'
import { collectGarbage } from '../../../support/collect-garbage.ts'

describe('memory of a trim', () => {
  it('keeps a few numbers of each long text, and not all of its prefixes', () => {
    const cuts = cutsOf('x'.repeat(2_000), { tokens: 400, value: 1, by: 'early' })
    const leaves = Array.from({ length: 2_000 }, () => ({ own: 400, key: 0, value: 1, cuts }))
    const builder = createTreeBuilder()
    const place = { below: 0, extra: 0, scale: 1, startsInside: false }
    const before = heapBytes()
    const chains = leaves.map(leaf => addTextChain(builder, leaf, place))
    builder.build()
    const each = (heapBytes() - before) / chains.length
    // 210 of these are the builder's own lists, of seven nodes a text.
    expect(each).toBeLessThan(600)
  })

  it('gives of a chain the longest prefix that is kept', () => {
    const cuts = cutsOf('x'.repeat(2_000), { tokens: 400, value: 1, by: 'early' })
    for (const startsInside of [false, true]) {
      const builder = createTreeBuilder()
      const top = builder.add(0)
      const place = { below: top, extra: 0, scale: 1, startsInside }
      const keptOf = addTextChain(builder, { own: 400, key: 0, value: 1, cuts }, place)
      const { parent } = builder.build()
      const first = startsInside ? top : top + 1
      const kept = new Uint8Array(parent.length)
      expect(keptOf(kept)).toBeNull()
      let chars = 0
      for (let node = first; node < parent.length; node++) {
        kept[node] = 1
        const part = keptOf(kept)!
        const isLast = node === parent.length - 1
        expect(part.kind).toBe(isLast ? 'all' : 'cut')
        if (part.kind === 'cut') expect(part.chars).toBeGreaterThan(chars)
        if (part.kind === 'cut') chars = part.chars
      }
      expect(parent.length).toBeGreaterThan(first + 3)
    }
  })
})

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
