import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createEnrichmentMetrics } from '../../../src/observability/enrichment-metrics.ts'
import { registerIn } from '../../../src/observability/register.ts'
import { createOfferEvents } from '../../../src/service/book/offer-events.ts'
import { captureCli } from '../../support/capture.ts'
import { connectMemory, MemoryServer, textResult } from '../../support/mcp/memory-gateway.ts'
import { summariesIn, testTelemetry } from '../book/events/writer.ts'

const READS = { annotations: { readOnlyHint: true, openWorldHint: false } }
const TOOLS = ['list', 'get', 'search'].map(name => ({
  ...{ name, inputSchema: { type: 'object' } },
  ...READS,
}))
const LINK = { tool: 'get', probability: 1, projection: 'id', projection_arg: 'id' }
const MODELS = {
  list: { follow_up: [LINK, { ...LINK, tool: 'absent' }], poll_ttl_s: 0.001 },
  search: { fail_fast_after_n: 1 },
  get: { poll_ttl_s: 100, cost_model: { typical_kb: 0.3 } },
}

/** Sizes of results: `big` is an overrun, `huge` is declined by the budget of 100 tokens. */
const SIZES: Readonly<Record<string, number>> = { big: 400, small: 20 }

/** A gateway with metrics, and telemetry in a folder. */
async function setUp() {
  const server = new MemoryServer('one', TOOLS)
  const slow = Promise.withResolvers<void>()
  server.handler = async ({ tool, args }) => {
    const { id, of = [] } = JSON.parse(args)
    if (tool === 'list') return textResult(JSON.stringify(of.map((id: string) => ({ id }))))
    if (tool === 'search') return textResult('[]')
    if (id === 'slow') await slow.promise
    return id === 'broken'
      ? textResult('no', { isError: true })
      : textResult('x'.repeat(SIZES[id] ?? 50))
  }
  const telemetry = testTelemetry()
  const offer: Parameters<typeof createOfferEvents>[0]['offer'] = arrived =>
    telemetry.offer({ ...arrived, at: telemetry.clock.now })
  const registry = new Registry()
  const metrics = createEnrichmentMetrics(registerIn(registry))
  const events = createOfferEvents({ offer })
  const observer: typeof events = event => {
    metrics(event)
    events(event)
  }
  const clock = { now: 0 }
  const client = await connectMemory([server], {
    ...{ tools: MODELS, observer, now: () => clock.now },
    settings: { budgetTokens: 160 },
  })
  return { telemetry, registry, clock, slow, ...client }
}

/** Fetches of every fate, declines, late calls, overruns, refusals and unchanged results. */
async function live({
  call,
  settled,
  clock,
  slow,
  gateway,
  telemetry,
}: Awaited<ReturnType<typeof setUp>>) {
  const first = { context: 'first' }
  await call('list', { of: ['small', 'big', 'late'] }, first)
  await settled()
  clock.now += 5
  await call('get', { id: 'small' }, first)
  await call('get', { id: 'late' }, first)
  await call('list', { of: ['slow'] }, first)
  await settled()
  clock.now += 11
  const joined = call('get', { id: 'slow' }, first)
  slow.resolve()
  await joined
  const second = { context: 'second' }
  await call('list', { of: ['broken'] }, second)
  await settled()
  for (let at = 0; at < 2; at++) await call('search', {}, second)
  for (let at = 0; at < 4; at++) await call('get', { id: 'same' }, second)
  await gateway.close()
  await settled()
  await telemetry.close()
}

/** The sum of a metric's samples, those with these labels. */
async function metricOf(registry: Registry, name: string, labels: Record<string, string> = {}) {
  const samples = (await registry.getMetricsAsJSON()).filter(each => each.name === name)
  const values = samples.flatMap(each => each.values)
  return values
    .filter(each =>
      Object.entries(labels).every(
        ([key, value]) => (each.labels as Record<string, unknown>)[key] === value,
      ),
    )
    .reduce((sum, { value }) => sum + value, 0)
}

// Contract, section 9; SOURCES.md#planner, "Validation strategy".
describe('haversack replay --enrichment', () => {
  it('has the figures of the metrics of a live run, by session and in all', async () => {
    const world = await setUp()
    await live(world)
    const { registry, telemetry } = world
    const { code, stdout, stderr } = await captureCli('replay', '--enrichment', telemetry.folder)
    expect(code).toBe(0)
    const [head = '', ...lines] = stdout.trim().split('\n')
    const rows = lines.map(line => {
      const cells = line.split(',')
      return Object.fromEntries(head.split(',').map((name, at) => [name, cells[at]]))
    })
    const total = rows.at(-1) as Record<string, string>
    expect(rows.length).toBe(3)
    const fates = ['dispatched', 'served', 'joined', 'wasted']
    const counted: Record<string, number> = {
      wasted_bytes: await metricOf(registry, 'haversack_prefetch_wasted_bytes_total'),
      late_invoked: await metricOf(registry, 'haversack_offers_total', {
        ...{ fate: 'declined', used: 'yes' },
      }),
      declines: await metricOf(registry, 'haversack_offers_total', { fate: 'declined' }),
      prefetches: await metricOf(registry, 'haversack_offers_total', { fate: 'prefetched' }),
      cited: await metricOf(registry, 'haversack_offers_total', {
        ...{ fate: 'prefetched', used: 'yes' },
      }),
      predictions: await metricOf(registry, 'haversack_prefetch_predictions_total'),
      overruns: await metricOf(registry, 'haversack_prefetch_predictions_total', {
        size: 'overrun',
      }),
      saved_fail_fast: await metricOf(registry, 'haversack_unsent_calls_total', {
        why: 'fail_fast',
      }),
      unchanged: await metricOf(registry, 'haversack_unsent_calls_total', { why: 'unchanged' }),
    }
    for (const fate of fates) {
      counted[fate] = await metricOf(registry, 'haversack_prefetches_total', { fate })
    }
    for (const reason of ['budget', 'not_speculatable']) {
      counted[`declined_${reason}`] = await metricOf(
        ...[registry, 'haversack_prefetch_declines_total', { reason }],
      )
    }
    const figures = Object.keys(counted).map(name => [name, Number(total[name])])
    expect(Object.fromEntries(figures)).toEqual(counted)
    // Each of them was reached.
    expect(Object.entries(counted).filter(([, count]) => count === 0)).toEqual([])
    expect(total['saved_ms']).toBe(String(await savedMs(registry)))
    for (const name of Object.keys(counted)) {
      const parts = rows.slice(0, -1).map(row => Number(row[name]))
      expect(parts.reduce((sum, part) => sum + part)).toBe(counted[name])
    }
    expect(stderr).toContain('# enrichment: prefetch_hit=')
    const summaries = await summariesIn(telemetry.folder)
    const summed = summaries.reduce((sum, each) => sum + (each.enrichment?.dispatched ?? 0), 0)
    expect(summed).toBe(counted['dispatched'])
  })

  it('prints the same as JSON, of one tenant too, and nothing but names without events', async () => {
    const world = await setUp()
    await live(world)
    const { folder } = world.telemetry
    const json = async (path: string) =>
      JSON.parse((await captureCli('replay', '--enrichment', '--json', path)).stdout)
    const all = await json(folder)
    expect(all.sessions.length).toBe(2)
    expect(all.total).toMatchObject({ session: 'total', declined_not_speculatable: 3 })
    expect(await json(join(folder, readdirSync(folder)[0] as string))).toEqual(all)
    const empty = await captureCli('replay', '--enrichment', join(folder, '..'))
    expect(empty.stderr).toBe('')
    expect(empty.stdout.trim().split('\n').length).toBe(2)
  })
})

async function savedMs(registry: Registry): Promise<number> {
  const text = await registry.metrics()
  const sum = /haversack_prefetch_saved_seconds_sum (\S+)/.exec(text)?.[1]
  return Math.round(1_000 * Number(sum))
}
