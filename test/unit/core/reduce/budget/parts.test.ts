import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../../src/core/json/parse-json.ts'
import type { Value } from '../../../../../src/core/json/value.ts'
import { writeJson } from '../../../../../src/core/json/write-json.ts'
import { cutsOf, cutText } from '../../../../../src/core/reduce/budget/cuts.ts'
import { priceText, type TextPart } from '../../../../../src/core/reduce/budget/price-text.ts'
import { priceValue } from '../../../../../src/core/reduce/budget/price-value.ts'
import {
  ALL,
  type KeptPart,
  type PricedNode,
} from '../../../../../src/core/reduce/budget/priced-node.ts'
import { createGapWriter, pruneText } from '../../../../../src/core/reduce/budget/prune-text.ts'
import { pruneValue } from '../../../../../src/core/reduce/budget/prune-value.ts'
import { STRATEGIES } from '../../../../../src/core/reduce/budget/strategies.ts'
import { lengthCounter } from '../../../../support/length-counter.ts'

const counter = lengthCounter(4)
const valuation = { strategy: STRATEGIES.equal, fields: new Map<string, number>() }
const NONE = null

function parsed(json: string): Value {
  const result = parseJson(json, { maxDepth: 1_000 })
  if (!result.ok) throw new Error('no JSON')
  return result.value
}

const some = (...children: (KeptPart | null)[]): KeptPart => ({ kind: 'some', children })
const cut = (chars: number): KeptPart => ({ kind: 'cut', chars })

function pruned(json: string, kept: KeptPart) {
  const { value, omissions } = pruneValue(parsed(json), kept)
  return { json: writeJson(value), omissions }
}

describe('what is left of a value', () => {
  it('names runs of missing items, each as a path that can be asked for, unless they are many', () => {
    expect(pruned('[1,2,3,4]', some(ALL, NONE, NONE, ALL))).toEqual({
      json: '[1,4]',
      omissions: [{ at: '$[1:3]', unit: 'items', omitted: 2, of: 4 }],
    })
    expect(pruned('[1,2,3]', some(NONE, ALL, NONE)).omissions).toEqual([
      { at: '$[0:1]', unit: 'items', omitted: 1, of: 3 },
      { at: '$[2:3]', unit: 'items', omitted: 1, of: 3 },
    ])
    const every = Array.from({ length: 40 }, (_, i) => i)
    const other = some(...every.map(i => (i % 2 === 0 ? ALL : NONE)))
    expect(pruned(JSON.stringify(every), other).omissions).toEqual([
      { at: '$', unit: 'items', omitted: 20, of: 40 },
    ])
  })

  it('counts what is missing of every item together', () => {
    const row = some(ALL, NONE)
    expect(pruned('[{"a":1,"b":2},{"a":3,"b":4}]', some(row, row))).toEqual({
      json: '[{"a":1},{"a":3}]',
      omissions: [{ at: '$[:].b', unit: 'fields', omitted: 2 }],
    })
  })

  it('names few fields of an object one by one, many by their number', () => {
    const one = '{"a":1,"b c":2,"d":3}'
    expect(pruned(one, some(ALL, NONE, NONE)).omissions.map(({ at }) => at)).toEqual([
      '$["b c"]',
      '$.d',
    ])
    const keys = Array.from({ length: 50 }, (_, i) => `"k${i}":${i}`)
    expect(pruned(`{${keys}}`, some(ALL, ...keys.slice(1).map(() => NONE))).omissions).toEqual([
      { at: '$', unit: 'fields', omitted: 49, of: 50 },
    ])
  })

  it('keeps duplicate, empty and odd keys apart by their place', () => {
    const odd = '{"":1,"":2,"__proto__":3,"a.b":4}'
    expect(pruned(odd, some(ALL, NONE, ALL, NONE))).toEqual({
      json: '{"":1,"__proto__":3}',
      omissions: [
        { at: '$[""]', unit: 'fields', omitted: 1 },
        { at: '$["a.b"]', unit: 'fields', omitted: 1 },
      ],
    })
  })

  it('stays at the place around what no short path can name', () => {
    const long = `{"${'k'.repeat(50_000)}":[1,2]}`
    expect(pruned(long, some(some(ALL, NONE))).omissions).toEqual([
      { at: '$', unit: 'items', omitted: 1 },
    ])
    let json = '[1,2]'
    let kept = some(ALL, NONE)
    for (let i = 0; i < 60; i++) {
      json = `{"a":${json}}`
      kept = some(kept)
    }
    const [omission] = pruned(json, kept).omissions
    expect(omission?.at).toBe(`$${'.a'.repeat(8)}`)
  })

  it('takes a wildcard in a key for no wildcard', () => {
    expect(pruned('{"a[:]b":[1,2,3]}', some(some(ALL, NONE, NONE))).omissions).toEqual([
      { at: '$["a[:]b"][1:3]', unit: 'items', omitted: 2, of: 3 },
    ])
  })

  it('has the beginnings of texts, each with what is missing of it', () => {
    expect(pruned('["abcdefgh"]', some(cut(3)))).toEqual({
      json: '["abc…[+5 chars]"]',
      omissions: [{ at: '$[:]', unit: 'texts', omitted: 1 }],
    })
  })
})

describe('the beginning of a text', () => {
  it('never ends inside a character', () => {
    expect(cutText('ab😀cd', 3)).toBe('ab…[+4 chars]')
    expect(cutText('ab😀cd', 4)).toBe('ab😀…[+2 chars]')
    expect(cutText('abc', 0)).toBe('…[+3 chars]')
  })

  it('comes in steps of a fifth, the first words worth more in a field than in a text', () => {
    const cuts = cutsOf('x'.repeat(4_000), { tokens: 1_000, value: 8, by: 'early' })
    expect(cuts.at(-1)).toEqual({ cost: 806, value: 8 * Math.sqrt(0.8), chars: 3_200 })
    expect(cuts[0]!.cost).toBeLessThan(24)
    cuts.forEach((each, i) => {
      if (i > 0) expect(each.cost).toBeGreaterThan(cuts[i - 1]!.cost)
    })
    expect(cutsOf('short', { tokens: 2, value: 1, by: 'even' })).toEqual([])
    const even = cutsOf('x'.repeat(4_000), { tokens: 1_000, value: 8, by: 'even' })
    expect(even.at(-1)!.value).toBeCloseTo(6.4)
  })
})

describe('the price of a value', () => {
  const price = (json: string, fields: Record<string, number> = {}) =>
    priceValue(parsed(json), counter, { ...valuation, fields: new Map(Object.entries(fields)) })

  it('has a part for each scalar, and one for a list or object without any', () => {
    const { children = [] } = price('{"a":[],"b":{},"c":1}')
    expect(children.map(child => child.children)).toEqual([undefined, undefined, undefined])
    expect(children.map(child => child.value)).toEqual([1, 1, 1])
  })

  it('gives a field its worth, with everything in it', () => {
    const { children = [] } = price('{"a":{"b":1,"c":[1]},"d":1}', { a: 3, c: 0.5 })
    expect(children[0]!.children!.map(child => child.value)).toEqual([3, 0])
    expect(children[0]!.children![1]!.children![0]!.value).toBe(1.5)
    expect(children[1]!.value).toBe(1)
  })

  it('is that of a table only where the rows are alike', () => {
    expect(price('[{"a":1,"b":2},{"a":1,"b":2}]').tableOwn).toBeGreaterThan(0)
    expect(price('[{"a":1},{"b":2},{"c":3}]').tableOwn).toBeUndefined()
    expect(price('[{"a":1},2,3]').tableOwn).toBeUndefined()
  })

  it('looks into deep values, but not without end', () => {
    const deep = (levels: number) => `${'['.repeat(levels)}1,2${']'.repeat(levels)}`
    const depthOf = (node: PricedNode): number => 1 + (node.children?.map(depthOf)[0] ?? 0)
    expect(depthOf(price(deep(20)))).toBe(21)
    expect(depthOf(price(deep(900)))).toBe(65)
  })
})

describe('the parts of a text', () => {
  const markdown = [
    '# One',
    'first line',
    '> quoted',
    '> still quoted',
    '## Empty',
    '## Two',
    '```sh',
    'npm ci',
    '```',
    '| a | b |',
    '| - | - |',
    '| 1 | 2 |',
    'last',
  ].join('\n')
  const parts = (text: string, isMarkdown = true, budget = 200) =>
    priceText(text, counter, valuation, { markdown: isMarkdown, budget }).root.parts ?? []
  const extents = (found: readonly TextPart[]) => found.map(({ start, end }) => [start, end])

  it('are sections, fences, tables, blockquotes, and lie behind one another', () => {
    const found = parts(markdown)
    expect(extents(found)).toEqual([
      [0, 2],
      [2, 4],
      [4, 5],
      [5, 6],
      [6, 9],
      [9, 12],
      [12, 13],
    ])
    expect(found.map(({ node }) => node.required === true)).toEqual([
      false,
      true,
      false,
      false,
      false,
      false,
      false,
    ])
    // A bare heading is a part that may stay.
    expect(found[2]!.node.children).toBeUndefined()
    expect(found[2]!.node.value).toBeGreaterThan(0)
  })

  it('know no blockquotes where the text is none that has them', () => {
    expect(parts(markdown, false).every(({ node }) => node.required !== true)).toBe(true)
  })

  it('go on to the end of the text where a fence is never closed', () => {
    expect(extents(parts('```\na\n# no heading\n> no quote'))).toEqual([[0, 4]])
  })

  it('are as small as the budget asks for', () => {
    const text = Array.from({ length: 400 }, (_, i) => `line number ${i} of many`).join('\n')
    const most = (budget: number) =>
      Math.max(...parts(text, false, budget).map(({ node }) => node.own))
    expect(most(200)).toBeLessThanOrEqual(25)
    expect(most(400)).toBeLessThanOrEqual(50)
  })

  it('leave marks where lines are missing, and keep what a mark would not be shorter than', () => {
    const text = priceText(markdown, counter, valuation, { markdown: true, budget: 200 })
    const kept = some(NONE, ALL, NONE, NONE, NONE, NONE, ALL)
    expect(pruneText(text, kept)).toEqual({
      text: '# One\nfirst line\n> quoted\n> still quoted\n[… lines 5-12]\nlast',
      covered: [4, 12],
      omissions: [{ at: 'lines 5-12', unit: 'lines', omitted: 8, of: 13 }],
    })
  })

  it('are told beside the lines that are there in part, or by a reference', () => {
    const writer = createGapWriter(Array.from({ length: 10 }, (_, i) => `${i} ${'x'.repeat(80)}`))
    writer.keep(0, 1)
    writer.keepPart(1, [{ start: 4, end: 60 }])
    writer.replace('> [ref 0a1b2c3d lines 1-3 of Read 1 call ago]', 2, 5)
    writer.omit(5, 9)
    writer.keep(9, 10)
    expect(writer.finish().covered).toEqual([1, 2, 2, 5, 5, 9])
  })

  it('may be the beginning of a long line', () => {
    const text = priceText('x'.repeat(4_000), counter, valuation, { markdown: false, budget: 100 })
    const result = pruneText(text, some(cut(10)))
    expect(result.text).toBe('xxxxxxxxxx…[+3990 chars]')
    expect(result.omissions).toEqual([{ at: 'lines 1-1', unit: 'texts', omitted: 1 }])
  })
})
