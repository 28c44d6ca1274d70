import { describe, expect, test } from 'vitest'
import { parsePart } from '../../../../src/core/parts/parse-part.ts'
import type { PartSelector } from '../../../../src/core/parts/part.ts'
import { createCosts, createSizes } from '../../../../src/store/parts/call-size.ts'
import { createShares } from '../../../../src/store/parts/shares.ts'
import { type Admission, createAdmission } from '../../../../src/store/sqlite/admission.ts'
import type { Call, OperationName } from '../../../../src/store/sqlite/protocol.ts'

const MIB = 1024 * 1024
const AHEAD = { readUs: 10_000, writeBytes: 4 * MIB }

/** A line of calls whose thread the test is. */
function line(maxWaitMs = 1e9) {
  const admission: Admission = createAdmission({ maxWaitMs, ahead: AHEAD })
  let id = 0
  const add = (op: OperationName, tenant: string, bytes: number | null, putBytes = 0) => {
    const call: Call = { id: ++id, op, args: [{ tenant }], bytes: putBytes }
    return { call, refusal: admission.add(call, { tenant, kind: op, bytes }) }
  }
  return { admission, add }
}

const tenantsOf = (calls: readonly Call[]) =>
  calls.map(call => `${call.op} ${(call.args[0] as { tenant: string }).tenant}`)

describe('who is next', () => {
  test('one long read is with the thread at once; a newcomer is next, what is urgent goes at once', () => {
    const { admission, add } = line()
    const queued = Array.from({ length: 300 }, () => add('part', 'a', 13 * MIB).call)
    expect(admission.take()).toEqual([queued[0]])
    expect(admission.take()).toEqual([])
    add('get', 'b', 4096)
    add('stats', '', null)
    add('touch', 'a', null)
    expect(tenantsOf(admission.take())).toEqual(['stats ', 'touch a'])
    admission.done(queued[0]!, 90_000)
    expect(tenantsOf(admission.take())).toEqual(['get b'])
  })

  test('a read of which nothing is known goes alone, small ones go together', () => {
    const { admission, add } = line()
    add('get', 'a', null)
    add('get', 'a', null)
    expect(admission.take()).toHaveLength(1)
    const small = line()
    for (let i = 0; i < 100; i++) small.add('get', 'a', 4096)
    expect(small.admission.take().length).toBeGreaterThan(50)
  })

  test('puts make groups, of all tenants, and reads do not hold them up', () => {
    const { admission, add } = line()
    const long = add('part', 'a', 13 * MIB).call
    for (let i = 0; i < 1000; i++) add('put', i % 2 === 0 ? 'a' : 'b', 4096, 4096)
    const group = admission.take()
    expect(group[0]).toBe(long)
    expect(group.length).toBeGreaterThan(300)
    expect(group.length).toBeLessThan(400)
    const ofA = tenantsOf(group).filter(name => name === 'put a').length
    expect(Math.abs(ofA - group.length / 2)).toBeLessThan(5)
  })

  test('whatever sizes went before, a long read has its turn when the thread has nothing', () => {
    const { admission, add } = line()
    for (let i = 0; i < 200; i++) {
      const small = [7, 1001, 4097, 65_539 + i, 333_331].map(bytes => add('get', 'a', bytes).call)
      expect(admission.take()).toEqual(small)
      for (const call of small) admission.done(call, 100.7)
      const long = add('get', 'a', 4 * MIB).call
      expect(admission.take()).toEqual([long])
      admission.done(long, 20_000.3)
    }
  })

  test('large puts of one tenant let another’s through', () => {
    const { admission, add } = line()
    const large = Array.from({ length: 5 }, () => add('put', 'a', 10 * MIB, 10 * MIB).call)
    add('put', 'b', 100, 100)
    expect(admission.take()).toEqual([large[0]])
    admission.done(large[0]!, 100_000)
    expect(tenantsOf(admission.take())[0]).toBe('put b')
  })

  test('a tenant that would wait too long is refused, another is not', () => {
    const { admission, add } = line(2000)
    const outcomes = Array.from({ length: 300 }, () => add('part', 'a', 13 * MIB).refusal)
    const taken = outcomes.filter(refusal => refusal === undefined).length
    // 0.01 µs a byte until it is learned.
    expect(taken).toBe(15)
    expect(outcomes.at(-1)?.refusedMs).toBeGreaterThan(2000)
    expect(add('part', 'b', 13 * MIB).refusal).toBeUndefined()
    expect(add('stats', '', null).refusal).toBeUndefined()
    expect(admission.clear()).toHaveLength(17)
    expect(add('part', 'a', 13 * MIB).refusal).toBeUndefined()
  })

  test('what is learned decides how many may wait', () => {
    const { admission, add } = line(2000)
    const size = { tenant: 'a', kind: 'part', bytes: 13 * MIB }
    for (let i = 0; i < 100; i++) {
      const { call } = add('part', 'a', size.bytes)
      admission.take()
      admission.done(call, 500_000)
    }
    const taken = Array.from({ length: 20 }, () => add('part', 'a', size.bytes).refusal)
    expect(taken.filter(refusal => refusal === undefined)).toHaveLength(5)
  })
})

test('costs are learned for each kind and size by itself', () => {
  const costs = createCosts()
  const small = { tenant: 'a', kind: 'get', bytes: 100 }
  const large = { ...small, bytes: 10 * MIB }
  const before = costs.estimateUs(small)
  for (let i = 0; i < 200; i++) costs.learn(large, 30_000)
  expect(costs.estimateUs(large)).toBeGreaterThan(29_000)
  expect(costs.estimateUs(large)).toBeLessThan(31_000)
  expect(costs.estimateUs(small)).toBe(before)
  const unknown = { ...small, bytes: null }
  for (let i = 0; i < 200; i++) costs.learn(unknown, 5000)
  expect(costs.estimateUs(unknown)).toBeGreaterThan(4900)
})

test('the size of a body is known from its put or an earlier read, and forgotten in the end', () => {
  const sizes = createSizes()
  const hash = (i: number) => i.toString(16).padStart(64, '0').split('').reverse().join('')
  const get = (i: number) =>
    ({ op: 'get', args: [{ tenant: 'a', ref: hash(i) }], bytes: 0 }) as const
  const kept = (i: number) => ({ ok: true, hash: hash(i), bytes: 1000 + i }) as const
  const note = (i: number) => sizes.note({ op: 'put', args: [{ tenant: 'a' }] }, kept(i))
  expect(sizes.of(get(1)).bytes).toBeNull()
  note(1)
  expect(sizes.of(get(1))).toEqual({ tenant: 'a', kind: 'get', bytes: 1001 })
  const selector: PartSelector = parsePart({ path: '$.a' })!
  expect(sizes.of({ ...get(1), op: 'part', args: [...get(1).args, selector] })).toEqual({
    tenant: 'a',
    kind: 'part path',
    bytes: 1001,
  })
  const other = { tenant: 'b', ref: hash(1) }
  expect(sizes.of({ op: 'get', args: [other], bytes: 0 }).bytes).toBeNull()
  for (let i = 2; i < 5000; i++) note(i)
  expect(sizes.of(get(1)).bytes).toBeNull()
  expect(sizes.of(get(4999)).bytes).toBe(5999)
})

test('one tenant leaves an eighth of the queue to others', () => {
  const shares = createShares({ maxCalls: 16, maxBytesWaiting: 1600 })
  for (let i = 0; i < 14; i++) shares.take('a', 10)
  expect(shares.fits('a', 10)).toBe(false)
  expect(shares.fits('b', 1460)).toBe(true)
  expect(shares.fits('b', 1461)).toBe(false)
  shares.give('a', 10)
  expect(shares.fits('a', 1270)).toBe(true)
  expect(shares.fits('a', 1271)).toBe(false)
  expect(shares.bytes).toBe(130)
})
