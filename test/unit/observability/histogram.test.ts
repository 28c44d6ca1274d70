import { Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createHistogram } from '../../../src/observability/register.ts'

const VALUES = [0, 0.5, 1, 1.5, 2, 7, 100]
const buckets = [1, 2, 5]

/** What prom-client's own histogram shows for the same observations. */
async function reference(labelNames: string[], observe: (histogram: Histogram) => void) {
  const registry = new Registry()
  observe(new Histogram({ name: 'h', help: 'help', labelNames, buckets, registers: [registry] }))
  return registry.metrics()
}

describe('the histogram of the hot path', () => {
  it('shows what the one of prom-client shows, without labels', async () => {
    const registry = new Registry()
    const observe = createHistogram(registry, { name: 'h', help: 'help', labels: [], buckets })
    for (const value of VALUES) observe(value)
    const expected = await reference([], histogram => {
      for (const value of VALUES) histogram.observe(value)
    })
    expect(lines(await registry.metrics())).toEqual(lines(expected))
  })

  it('the histogram counts as a reference does with two labels', async () => {
    const registry = new Registry()
    const labels = ['route', 'status']
    const observe = createHistogram(registry, { name: 'h', help: 'help', labels, buckets })
    for (const value of VALUES) observe(value, value > 1 ? '/a' : '/"b\\', 200)
    observe(3, '/a', 404)
    const expected = await reference(labels, histogram => {
      for (const value of VALUES) {
        histogram.observe({ route: value > 1 ? '/a' : '/"b\\', status: 200 }, value)
      }
      histogram.observe({ route: '/a', status: 404 }, 3)
    })
    expect(lines(await registry.metrics())).toEqual(lines(expected))
  })
})

/** The lines of an exposition, apart from their order. */
function lines(text: string): string[] {
  return text.split('\n').sort()
}
