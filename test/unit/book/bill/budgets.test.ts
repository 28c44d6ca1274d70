import { expect, it, onTestFinished } from 'vitest'
import {
  type Budget,
  type BudgetMark,
  type BudgetState,
  createBudgets,
} from '../../../../src/book/bill/budgets.ts'
import { fail } from '../../../../src/store/values/failure.ts'
import { recordStore } from '../../../support/record-store.ts'

const BUDGETS: readonly Budget[] = [
  { tenant: 'a', period: 'day', amount: 10 },
  { tenant: 'a', period: 'month', amount: 25 },
]

function budgetsOn({ store }: Pick<ReturnType<typeof recordStore>, 'store'>) {
  const clock = { now: Date.UTC(2026, 10, 29, 12) }
  const marks: string[] = []
  const states: BudgetState[] = []
  const unsaved: string[] = []
  const budgets = createBudgets({
    store,
    budgets: () => BUDGETS,
    now: () => clock.now,
    onMark: ({ period, of, spent }, mark: BudgetMark) =>
      marks.push(`${period} ${of} ${mark} ${spent}`),
    onState: state => states.push(state),
    onUnsaved: detail => unsaved.push(detail),
    onBug: bug => expect(bug).toBeUndefined(),
  })
  onTestFinished(() => budgets.close())
  const spend = async (amount: number, tenant = 'a') => {
    budgets.spend(tenant, amount)
    await budgets.read(tenant)
  }
  return { budgets, clock, marks, states, unsaved, spend }
}

it('tells of 80 and 100 %, once in each day and month', async () => {
  const { budgets, clock, marks, spend } = budgetsOn(recordStore())
  await spend(7.5)
  expect(marks).toEqual([])
  await spend(0.5)
  await spend(1)
  await budgets.close()
  expect(marks).toEqual(['day 2026-11-29 0.8 8'])
  await spend(6)
  await budgets.close()
  expect(marks.slice(1)).toEqual(['day 2026-11-29 1 15'])
  clock.now += 86_400_000
  await spend(9)
  await budgets.close()
  expect(marks.slice(2)).toEqual(['day 2026-11-30 0.8 9', 'month 2026-11 0.8 24'])
  clock.now += 86_400_000
  expect((await budgets.read('a')).map(({ of, spent }) => [of, spent])).toEqual([
    ['2026-12-01', 0],
    ['2026-12', 0],
  ])
})

it('tells of both marks if one request reaches both, and never blocks or counts others', async () => {
  const { budgets, marks, states, spend } = budgetsOn(recordStore())
  await spend(1_000, 'b')
  await spend(10)
  await budgets.close()
  expect(marks).toEqual(['day 2026-11-29 0.8 10', 'day 2026-11-29 1 10'])
  expect(new Set(states.map(({ tenant }) => tenant))).toEqual(new Set(['a']))
  expect(await budgets.read('b')).toEqual([])
})

it('adds what several processes spend, and tells once after a restart', async () => {
  const shared = recordStore()
  const [one, other] = [budgetsOn(shared), budgetsOn(shared)]
  await one.spend(5)
  await one.budgets.close()
  await other.spend(4)
  await other.budgets.close()
  expect(other.marks).toEqual(['day 2026-11-29 0.8 9'])
  const later = budgetsOn(shared)
  await later.spend(0.5)
  await later.budgets.close()
  expect(later.marks).toEqual([])
  expect((await later.budgets.read('a'))[0]?.spent).toBe(9.5)
})

it('forgets days beyond a month, and what it told of them', async () => {
  const shared = recordStore()
  const { budgets, clock, spend } = budgetsOn(shared)
  for (let day = 0; day < 60; day++) {
    await spend(9)
    await budgets.close()
    clock.now += 86_400_000
  }
  const [record] = shared.records.values()
  const { days, told } = JSON.parse(Buffer.from(record!.value).toString())
  expect(Object.keys(days)).toHaveLength(40)
  expect(Object.keys(told).length).toBeLessThanOrEqual(2 * 40 + 6)
})

it.each([
  ['no JSON', '{'],
  ['no sums', '{"days":{"2026-11-29":"9"}}'],
  ['a sum that nobody spends', '{"stamp":"","told":{},"days":{"2026-11-29":1e308}}'],
])('knows nothing of a record that has %s', async (_, text) => {
  const shared = recordStore()
  const key = { tenant: 'a', namespace: 'budgets', key: 'spending.v1' } as const
  await shared.store.writeRecord({ ...key, value: Buffer.from(text) })
  const { budgets, marks, spend } = budgetsOn(shared)
  await spend(9)
  expect(await budgets.read('a')).toEqual([])
  expect(marks).toEqual([])
})

it('goes on if the store does not answer', async () => {
  const shared = recordStore()
  const { budgets, marks, spend } = budgetsOn(shared)
  shared.state.failure = fail('failed', 'gone')
  await spend(9)
  expect(await budgets.read('a')).toEqual([])
  shared.state.failure = null
  await spend(0.5)
  await budgets.close()
  expect(marks).toEqual(['day 2026-11-29 0.8 9.5'])
})
