import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { PartMemo } from '../../../../src/core/formats/part-memo.ts'
import { encodeContent } from '../../../../src/core/pipeline/encode-content.ts'
import { cutsOf } from '../../../../src/core/reduce/budget/cuts.ts'
import { addTextChain, createTreeBuilder } from '../../../../src/core/reduce/trim/tree-builder.ts'
import { collectGarbage } from '../../../support/collect-garbage.ts'
import { counters } from '../../../support/vocabularies.ts'

const context = { counters, maxDepth: 64, maxDecodedChars: 1e7, keepsOriginals: true }

const words = (count: number, seed: number) =>
  Array.from({ length: count }, (_, k) => (seed * 7_919 + k * 104_729).toString(36)).join(' ')

describe('memory of a trim', () => {
  it('does not have the drafts of the whole while parts are chosen', () => {
    const asked = vi.spyOn(PartMemo.prototype, 'of')
    onTestFinished(() => asked.mockRestore())
    const items = Array.from({ length: 40 }, (_, id) => ({ id, body: words(60, id) }))
    const content = JSON.stringify(items)
    const { answer } = encodeContent({ content, mode: 'trim', budget_tokens: 1_000 }, context)
    expect(answer.elided).toHaveLength(1)
    const whole = asked.mock.contexts[0] as PartMemo
    const owners = new Set(asked.mock.calls.map(([owner]) => owner))
    expect(owners.size).toBeGreaterThan(1)
    for (const owner of owners) expect(whole.of(owner, () => 'nothing')).toBe('nothing')
  })

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
