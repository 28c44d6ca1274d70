import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createMcpMetrics } from '../../../src/observability/mcp-metrics.ts'
import { registerIn } from '../../../src/observability/register.ts'

it('counts by upstream, and the upstreams beyond a bound as one', async () => {
  const registry = new Registry()
  const metrics = createMcpMetrics(registerIn(registry))
  for (let i = 0; i < 100; i++) metrics.call(`server${i}`, 'result')
  metrics.call('server7', 'lost')
  metrics.added('server7', 2)
  metrics.tokens('server7', 100, 40)
  metrics.connected('server7', false)
  metrics.connected('server7', true)
  metrics.disconnected('server7')
  metrics.listChanged('server99')
  const text = await registry.metrics()
  expect(text.match(/^haversack_mcp_calls_total\{.*outcome="result"\}/gm)).toHaveLength(65)
  for (const line of [
    'haversack_mcp_calls_total{upstream="others",outcome="result"} 36',
    'haversack_mcp_calls_total{upstream="server7",outcome="lost"} 1',
    'haversack_mcp_added_seconds_bucket{le="0.0025",upstream="server7"} 1',
    'haversack_mcp_added_seconds_bucket{le="0.001",upstream="server7"} 0',
    'haversack_mcp_tokens_before_total{upstream="server7"} 100',
    'haversack_mcp_tokens_after_total{upstream="server7"} 40',
    'haversack_mcp_connections{upstream="server7"} 1',
    'haversack_mcp_restarts_total{upstream="server7"} 1',
    'haversack_mcp_list_changes_total{upstream="others"} 1',
  ]) {
    expect(text).toContain(line)
  }
})
