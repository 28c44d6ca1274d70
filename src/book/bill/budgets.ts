import { z } from 'zod'
import type { Failure, Store } from '../../store/store.ts'
import { createTenantSums } from '../../store/values/tenant-sums.ts'

/** What a tenant may spend at the vendors in a day or a month (UTC), as `[[budgets]]` says it. */
export interface Budget {
  readonly tenant: string
  readonly period: 'day' | 'month'
  /** In the currency of the prices. */
  readonly amount: number
  /** Told of both marks. */
  readonly webhook?: string | undefined
}

/** How far a budget is used. */
export interface BudgetState extends Budget {
  /** The day or month, such as `2026-11-29` or `2026-11`. */
  readonly of: string
  readonly spent: number
}

/** Shares of a budget that are told, once in its period. */
export const BUDGET_MARKS = [0.8, 1] as const
export type BudgetMark = (typeof BUDGET_MARKS)[number]

/** Watches what tenants spend. It tells, and blocks nothing. */
export interface Budgets {
  /** Adds what a request cost in money. */
  spend(tenant: string, amount: number): void
  /** The budgets of a tenant; what other processes spent is known up to their last write. */
  read(tenant: string): Promise<readonly BudgetState[]>
  close(): Promise<void>
}

export interface BudgetsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** Asked at each request, since a reload may change them. */
  readonly budgets: () => readonly Budget[]
  /** Unix milliseconds. */
  readonly now: () => number
  /** Called when a mark is reached. */
  readonly onMark: (state: BudgetState, mark: BudgetMark) => void
  /** Called with each state that was read. */
  readonly onState: (state: BudgetState) => void
  readonly onUnsaved: (detail: string) => void
  readonly onBug: (error: unknown) => void
}

/** A day of which more is said was not written by us. */
const MOST_MONEY = 1e15

/** What was spent by day, and the marks that were told. */
const spending = z.object({
  stamp: z.string(),
  days: z.record(z.string(), z.number().min(0).max(MOST_MONEY)),
  told: z.record(z.string(), z.literal(true)),
})
type Spending = z.infer<typeof spending>

const NO_SPENDING: Spending = { stamp: '', days: {}, told: {} }

/** Days that are kept: a month, and its end in any time zone. */
const KEPT_DAYS = 40

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

export function createBudgets(options: BudgetsOptions): Budgets {
  const { now, onMark, onState } = options
  const sums = createTenantSums<Spending>({
    ...options,
    record: { namespace: 'budgets', key: 'spending.v1' },
    read: readSpending,
    write: sums => Buffer.from(JSON.stringify(sums)),
    add: addSpending,
  })
  /** Tenants that are checked now, and whether once more, since more was spent meanwhile. */
  const checking = new Map<string, { again: boolean; readonly done: Promise<void> }>()

  const budgetsOf = (tenant: string) => options.budgets().filter(each => each.tenant === tenant)

  async function spendingOf(tenant: string): Promise<Spending | Failure> {
    const read = await sums.read(tenant)
    return 'ok' in read ? read : (read.sums ?? NO_SPENDING)
  }

  async function check(tenant: string): Promise<void> {
    const spent = await spendingOf(tenant)
    if ('ok' in spent) return
    for (const budget of budgetsOf(tenant)) {
      const state = stateOf(budget, spent, now())
      onState(state)
      for (const mark of BUDGET_MARKS) {
        const name = `${state.period} ${state.of} ${mark}`
        if (state.spent < mark * state.amount || spent.told[name] === true) continue
        sums.add(tenant, { ...NO_SPENDING, told: { [name]: true } })
        onMark(state, mark)
      }
    }
  }

  function checkSoon(tenant: string): void {
    const running = checking.get(tenant)
    if (running !== undefined) {
      running.again = true
      return
    }
    const done = check(tenant)
      .catch(options.onBug)
      .then(() => {
        const { again } = checking.get(tenant)!
        checking.delete(tenant)
        if (again) checkSoon(tenant)
      })
    checking.set(tenant, { again: false, done })
  }

  return {
    spend(tenant, amount) {
      if (amount === 0 || budgetsOf(tenant).length === 0) return
      sums.add(tenant, { ...NO_SPENDING, days: { [dayOf(now())]: amount } })
      checkSoon(tenant)
    },
    async read(tenant) {
      const budgets = budgetsOf(tenant)
      if (budgets.length === 0) return []
      const spent = await spendingOf(tenant)
      return 'ok' in spent ? [] : budgets.map(each => stateOf(each, spent, now()))
    },
    async close() {
      while (checking.size > 0) await Promise.all([...checking.values()].map(({ done }) => done))
      await sums.close()
    },
  }
}

/** Returns `null` for bytes that are none, as another writer of the store may leave. */
function readSpending(bytes: Uint8Array): Spending | null {
  try {
    return spending.safeParse(JSON.parse(Buffer.from(bytes).toString())).data ?? null
  } catch {
    return null
  }
}

/** The stamp is that of the first; the oldest days and what was told of them go. */
function addSpending(a: Spending, b: Spending): Spending {
  const days = { ...b.days }
  for (const [day, amount] of Object.entries(a.days)) days[day] = (days[day] ?? 0) + amount
  const kept = Object.keys(days).sort().slice(-KEPT_DAYS)
  const told = Object.entries({ ...b.told, ...a.told }).filter(([name]) => {
    const [, of = ''] = name.split(' ')
    return kept[0] === undefined || of >= kept[0].slice(0, of.length)
  })
  return {
    stamp: a.stamp,
    days: Object.fromEntries(kept.map(day => [day, days[day]!])),
    told: Object.fromEntries(told),
  }
}

function stateOf(budget: Budget, { days }: Spending, at: number): BudgetState {
  const day = dayOf(at)
  const of = budget.period === 'day' ? day : day.slice(0, 7)
  const spent = Object.entries(days)
    .filter(([each]) => each.startsWith(of))
    .reduce((sum, [, amount]) => sum + amount, 0)
  return { ...budget, of, spent }
}
