import type { ArmsCount } from '../book/arms/tenant-arms.ts'
import type { Account } from '../book/bill/account.ts'
import type { BudgetState } from '../book/bill/budgets.ts'
import { FOLLOW_UPS, RESULT_ARMS } from '../core/arms/sums.ts'
import type { Register } from './register.ts'

/** What operators see of the tenants that have a budget. */
export interface TenantMetrics {
  account(tenant: string, account: Account): void
  budget(state: BudgetState): void
}

/** Tenants with a label of their own; any more are `other`. */
export const MOST_TENANTS = 100

export function createTenantMetrics({ counter, setGauge }: Register): TenantMetrics {
  const of = ['tenant']
  const requests = counter('haversack_tenant_requests_total', 'Answered requests, by tenant', of)
  const saved = counter(
    'haversack_tenant_tokens_saved_total',
    'Tokens that requests were spared, counted anew in each turn, by tenant',
    of,
  )
  const billed = counter(
    'haversack_tenant_billed_total',
    'What requests cost, in uncached input tokens, by tenant',
    of,
  )
  const without = counter(
    'haversack_tenant_without_total',
    'What requests would have cost as they came, in uncached input tokens, by tenant',
    of,
  )
  const used = setGauge('haversack_budget_used_ratio', 'The used share of a budget', [
    'tenant',
    'period',
  ])
  const known = new Set<string>()
  const labelOf = (tenant: string) => {
    if (known.size < MOST_TENANTS) known.add(tenant)
    return known.has(tenant) ? tenant : 'other'
  }
  return {
    account(name, account) {
      const tenant = labelOf(name)
      requests.inc({ tenant }, account.requests)
      const tokens = Object.values(account.removed).reduce((sum, each) => sum + each, 0)
      saved.inc({ tenant }, Math.max(0, tokens))
      billed.inc({ tenant }, account.billed)
      without.inc({ tenant }, account.without)
    },
    budget: ({ tenant, period, spent, amount }) => used.set({ tenant, period }, spent / amount),
  }
}

/** What operators see of arms. */
export interface ArmsMetrics {
  /** Results that were drawn or counted. */
  results(count: ArmsCount): void
  /** Elision of a class costs more than it saves. */
  alarm(isReverted: boolean): void
}

export function createArmsMetrics({ counter }: Register): ArmsMetrics {
  const results = counter(
    'haversack_arms_results_total',
    'Results that were, or would have been, elided, by their arm',
    ['arm'],
  )
  const followUps = counter(
    'haversack_arms_follow_ups_total',
    'Calls that came back to such results, by the arm of the result and what they were',
    ['arm', 'kind'],
  )
  const units = counter(
    'haversack_arms_unit_results_total',
    'Results of sessions whose arm was drawn, by the arm',
    ['arm'],
  )
  const alarms = counter(
    'haversack_arms_alarms_total',
    'Classes whose elision costs more than it saves, by what was done',
    ['action'],
  )
  return {
    results(count) {
      for (const arm of RESULT_ARMS) {
        results.inc({ arm }, count.results[arm])
        for (const kind of FOLLOW_UPS) followUps.inc({ arm, kind }, count.followUps[arm][kind])
      }
      units.inc({ arm: 'held_out' }, count.ofUnits.heldOut)
      units.inc({ arm: 'treated' }, count.ofUnits.treated)
    },
    alarm: isReverted => alarms.inc({ action: isReverted ? 'reverted' : 'reported' }),
  }
}
