import { describe, expect, it } from 'vitest'
import { type CallAhead, proposeEnrichment } from '../../../src/lab/proposals/auto-enrichment.ts'

/** So many calls ahead of a tool, of which so many were used. */
const calls = (tool: string, made: number, used: number): CallAhead[] =>
  Array.from({ length: made }, (_, at) => ({ tool, isUsed: at < used, tokens: 100 }))

const propose = (all: readonly CallAhead[], isEnabled = false) =>
  proposeEnrichment({ isEnabled, replay: without => all.filter(each => !without.has(each.tool)) })

// SOURCES.md#planner, "Adaptive tuning": R7; contract, section 9.
describe('rule R7', () => {
  it('switches a tool off of whose calls ahead less than half were used', () => {
    const all = [...calls('a', 10, 4), ...calls('b', 20, 18)]
    expect(propose(all)).toEqual([
      {
        ...{ rule: 'R7', key: ['tools', 'a', 'speculate'], to: false },
        evidence: { prefetches: 10, used: 4 },
        before: { prefetches: 30, used: 22, unused_tokens: 800 },
        after: { prefetches: 20, used: 18, unused_tokens: 200 },
      },
    ])
  })

  it.each<[string, CallAhead[]]>([
    ['half were used', [...calls('a', 10, 5), ...calls('b', 90, 50)]],
    ['there were nine', [...calls('a', 9, 0), ...calls('b', 20, 8 + 2)]],
    ['there were none', []],
  ])('leaves tools alone if %s', (_, all) => {
    expect(propose(all)).toEqual([])
  })

  it('switches calls ahead on if 60 % of all were used, and no tool is switched off', () => {
    const on = [
      {
        ...{ rule: 'R7', key: ['enrichment', 'enabled'], to: true },
        evidence: { prefetches: 20, used: 12 },
        before: { prefetches: 0, used: 0, unused_tokens: 0 },
        after: { prefetches: 20, used: 12, unused_tokens: 800 },
      },
    ]
    expect(propose(calls('a', 20, 12))).toEqual(on)
    expect(propose(calls('a', 20, 12), true)).toEqual([])
    expect(propose(calls('a', 20, 11))).toEqual([])
    expect(propose(calls('a', 19, 19))).toEqual([])
    const mixed = [...calls('a', 90, 90), ...calls('b', 10, 0)]
    expect(propose(mixed).map(({ key }) => key.at(-1))).toEqual(['speculate'])
  })
})
