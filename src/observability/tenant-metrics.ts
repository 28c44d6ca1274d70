import type { Account } from '../book/bill/account.ts'
import type { BudgetState } from '../book/bill/budgets.ts'
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
