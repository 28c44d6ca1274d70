import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createResultMetrics } from '../../../src/observability/operation-metrics.ts'
import { registerIn } from '../../../src/observability/register.ts'

it('counts what hosts say in results, of encodes and of proxied requests', async () => {
  const registry = new Registry()
  const metrics = createResultMetrics(registerIn(registry))
  const rewrite = { readable: true, texts: 2, rewritten: 0, tokens_saved: 0 }
  metrics.report({ op: 'encode', host_blocks: { blocks: 2, tokens: 40 } })
  metrics.report({ op: 'rewrite', rewrite: { ...rewrite, host_blocks: { blocks: 1, tokens: 9 } } })
  metrics.report({ op: 'rewrite', rewrite })
  const text = await registry.metrics()
  expect(text).toContain('haversack_host_blocks_total{op="encode"} 2')
  expect(text).toContain('haversack_host_block_tokens_total{op="encode"} 40')
  expect(text).toContain('haversack_host_blocks_total{op="rewrite"} 1')
  expect(text).toContain('haversack_host_block_tokens_total{op="rewrite"} 9')
})

it('counts what views left out, and those beyond a bound as one', async () => {
  const registry = new Registry()
  const metrics = createResultMetrics(registerIn(registry))
  const encoded = { op: 'encode', layer: 'L2', format: 'csv@1', shape: 'object' } as const
  for (let i = 0; i < 70; i++) metrics.report({ ...encoded, view: `view${i}`, tokens_elided: 10 })
  metrics.report({ ...encoded, view: 'view7', tokens_elided: 5 })
  metrics.report({ ...encoded, tokens_elided: 1_000 })
  const text = await registry.metrics()
  expect(text.match(/^haversack_view_tokens_total\{/gm)).toHaveLength(65)
  expect(text).toContain('haversack_view_tokens_total{view="view7"} 15')
  expect(text).toContain('haversack_view_tokens_total{view="others"} 60')
})
