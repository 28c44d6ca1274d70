import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { NO_ACCOUNT } from '../../../src/book/bill/account.ts'
import { registerIn } from '../../../src/observability/register.ts'
import { createTenantMetrics, MOST_TENANTS } from '../../../src/observability/tenant-metrics.ts'

it('names a bounded number of tenants, and counts any more as one', async () => {
  const registry = new Registry()
  const metrics = createTenantMetrics(registerIn(registry))
  const account = { ...NO_ACCOUNT, requests: 1, billed: 5, without: 9, removed: { o200k_base: 4 } }
  for (let i = 0; i < MOST_TENANTS + 7; i++) metrics.account(`t${i}`, account)
  metrics.account('t0', { ...account, removed: { o200k_base: -4 } })
  const text = await registry.metrics()
  expect(text.match(/^haversack_tenant_requests_total\{/gm)).toHaveLength(MOST_TENANTS + 1)
  expect(text).toContain('haversack_tenant_requests_total{tenant="t0"} 2')
  expect(text).toContain('haversack_tenant_tokens_saved_total{tenant="t0"} 4')
  expect(text).toContain('haversack_tenant_billed_total{tenant="other"} 35')
  expect(text).toContain('haversack_tenant_without_total{tenant="other"} 63')
})
