import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createResultMetrics } from '../../../src/observability/operation-metrics.ts'
import { registerIn } from '../../../src/observability/register.ts'
import { rowWith } from '../../support/result-rows.ts'

it('counts what hosts say in results, of encodes and of proxied requests', async () => {
  const registry = new Registry()
  const metrics = createResultMetrics(registerIn(registry))
  const rewrite = { readable: true, texts: 2, rewritten: 0, tokens_saved: 0 }
  metrics.report({ op: 'encode', host_blocks: { blocks: 2, tokens: 40 } }, null)
  const host_blocks = { blocks: 1, tokens: 9 }
  metrics.report({ op: 'rewrite', rewrite: { ...rewrite, host_blocks } }, null)
  metrics.report({ op: 'rewrite', rewrite }, null)
  const text = await registry.metrics()
  expect(text).toContain('haversack_host_blocks_total{op="encode"} 2')
  expect(text).toContain('haversack_host_block_tokens_total{op="encode"} 40')
  expect(text).toContain('haversack_host_blocks_total{op="rewrite"} 1')
  expect(text).toContain('haversack_host_block_tokens_total{op="rewrite"} 9')
})

it('counts what views left out, and those beyond a bound as one', async () => {
  const registry = new Registry()
  const metrics = createResultMetrics(registerIn(registry))
  const leftOut = (view: string | null, omitted: number) =>
    metrics.report({ op: 'encode' }, rowWith({ sent: { view }, tokens: { omitted } }))
  for (let i = 0; i < 70; i++) leftOut(`view${i}`, 10)
  leftOut('view7', 5)
  leftOut(null, 1_000)
  const text = await registry.metrics()
  expect(text.match(/^haversack_view_tokens_total\{/gm)).toHaveLength(65)
  expect(text).toContain('haversack_view_tokens_total{view="view7"} 15')
  expect(text).toContain('haversack_view_tokens_total{view="others"} 60')
})
