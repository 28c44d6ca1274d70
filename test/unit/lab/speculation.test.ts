import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { ObjectValue } from '../../../src/core/json/value.ts'
import { mineLinks, type RecordedCall } from '../../../src/lab/speculation/link-miner.ts'
import { studyPlans } from '../../../src/lab/speculation/study-plans.ts'

const call = (tool: string, args: Record<string, string>, text = 'x'): RecordedCall => ({
  ...{ tool, text, isError: false },
  args: new ObjectValue(Object.keys(args), Object.values(args)),
})
/** A customer with one order, which the agent then looks at, or not. */
const visit = (n: number, isFollowed: boolean): RecordedCall[] => [
  call('get_customer', { name: `c${n}` }, JSON.stringify({ name: `c${n}`, order: `order-${n}` })),
  ...(isFollowed ? [call('get_order', { order_id: `order-${n}` }, 'shipped')] : []),
  ...[1, 2, 3].map(at => call('think', { thought: `${n} ${at}` })),
]
const study = (sessions: ReadonlyMap<string, readonly RecordedCall[]>) => {
  const { enrichment, tools } = loadConfig({ env: {}, insecure: true })
  return studyPlans(sessions, { enrichment, tools }, text => text.length)
}

// SOURCES.md#planner, "Validation strategy"; contract, sections 7 and 9: links mined from sessions,
// and `replay --speculate`.
describe('links of recorded sessions', () => {
  it('lead from a value of a result to the argument of a call after it', () => {
    const visits = Array.from({ length: 10 }, (_, n) => visit(n, n % 2 === 0))
    expect(mineLinks(visits)).toEqual({
      get_customer: {
        follow_up: [
          { tool: 'get_order', projection: 'order', projection_arg: 'order_id', probability: 0.5 },
        ],
      },
    })
  })

  it('are none if calls have other arguments beside it, or come too late', () => {
    const visits = Array.from({ length: 10 }, (_, n) => {
      const [first, , ...rest] = visit(n, true) as [RecordedCall, RecordedCall, RecordedCall]
      return [
        [first, call('get_order', { order_id: `order-${n}`, page: '2' }), ...rest],
        [first, ...rest, call('get_order', { order_id: `order-${n}` })],
      ]
    })
    expect(mineLinks(visits.flat())).toEqual({})
  })
})

describe('a study of plans', () => {
  const sessions = (isFollowed: (n: number) => boolean) =>
    new Map(
      Array.from({ length: 200 }, (_, n) => [`session ${n}`, visit(n, isFollowed(n))] as const),
    )

  it('learns on one half and tells of the other', () => {
    const { offers, sessions: halves } = study(sessions(n => n % 5 > 0))
    expect(halves.fitted + halves.told).toBe(200)
    expect(Math.abs(halves.fitted - halves.told)).toBeLessThan(60)
    const ahead = offers.filter(({ declined }) => declined === null)
    expect(ahead.length).toBe(halves.told)
    const used = ahead.filter(({ isUsed }) => isUsed).length
    expect(used / ahead.length).toBeGreaterThan(0.7)
    expect(ahead.filter(({ isServed }) => isServed).length).toBe(used)
  })

  it('takes the best share if there are few calls, and the highest bar if there are none', () => {
    const few = [...sessions(() => true)].slice(0, 26)
    expect(study(new Map(few))).toMatchObject({ minProbability: 0.2 })
    expect(study(new Map(few.slice(0, 10)))).toMatchObject({ minProbability: 0.7 })
  })

  it('declines what is seldom followed', () => {
    const { offers } = study(sessions(n => n % 5 === 0))
    expect(offers.every(({ declined }) => declined === 'below_probability')).toBe(true)
    expect(offers.length).toBeGreaterThan(50)
  })
})
