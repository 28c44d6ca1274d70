import { describe, expect, it } from 'vitest'
import { argumentNames, ObservedCosts } from '../../../../src/core/enrich/observed-costs.ts'

const PART = argumentNames('{"path":"a","limit":5}')
const WHOLE = argumentNames('{"path":"b"}')

// Contract, section 8, "Cost"; docs/guide/planning.md says why it is not the median.
describe('observed sizes', () => {
  it('count from twenty results of a tool on, by what four of five stay within', () => {
    const costs = new ObservedCosts()
    for (let i = 1; i <= 19; i++) costs.observe('t', undefined, i)
    expect(costs.expected('t', undefined)).toBeUndefined()
    costs.observe('t', undefined, 1_000)
    expect(costs.expected('t', undefined)).toBe(17)
    for (let i = 0; i < 64; i++) costs.observe('t', undefined, 7)
    expect(costs.expected('t', undefined)).toBe(7)
    expect(costs.expected('other', undefined)).toBeUndefined()
  })

  it('are of calls with the same arguments, from eight on', () => {
    const costs = new ObservedCosts()
    for (let i = 0; i < 20; i++) costs.observe('read', PART, 10)
    for (let i = 0; i < 7; i++) costs.observe('read', WHOLE, 900)
    // Seven of 27 are large: the tool's own share has one of them.
    expect(costs.expected('read', WHOLE)).toBe(900)
    expect(costs.expected('read', PART)).toBe(10)
    for (let i = 0; i < 57; i++) costs.observe('read', PART, 10)
    expect(costs.expected('read', WHOLE)).toBe(10)
    costs.observe('read', WHOLE, 900)
    expect(costs.expected('read', WHOLE)).toBe(900)
  })

  it('are of a bounded number of kinds of calls', () => {
    const costs = new ObservedCosts()
    for (let i = 0; i < 20; i++) costs.observe('first', undefined, 5)
    for (let i = 0; i < 4_000; i++) costs.observe(`t${i}`, undefined, 1)
    expect(costs.expected('first', undefined)).toBeUndefined()
  })

  it('know calls by the names of their arguments, in any order', () => {
    expect(argumentNames('{"limit":9,"path":"z"}')).toBe(PART)
    expect(WHOLE).not.toBe(PART)
    expect(argumentNames(null)).toBeUndefined()
    expect(argumentNames('"a"')).toBeUndefined()
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`key ${i}`, i]))
    expect(argumentNames(JSON.stringify(many))).toBeUndefined()
  })
})
