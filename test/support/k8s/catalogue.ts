import { NO_ACCOUNT } from '../../../src/book/bill/account.ts'
import { createMetrics, type Gauges, type Metrics } from '../../../src/observability/metrics.ts'
import { rowWith } from '../result-rows.ts'
import type { Catalogue, Series } from './promql.ts'

/** What Prometheus adds to every series of a pod that it finds through a Service. */
const TARGET_LABELS = ['job', 'namespace', 'service', 'pod', 'container', 'endpoint', 'instance']

/** Metrics of others that the alerts use: Prometheus' own and kube-state-metrics'. */
const FOREIGN: readonly (readonly [string, readonly string[]])[] = [
  ['up', TARGET_LABELS],
  [
    'kube_pod_container_resource_limits',
    ['namespace', 'pod', 'container', 'resource', 'unit', 'node', 'job'],
  ],
]

/** Every gauge at zero, those of the store too, which is asked for all of its at once. */
const zeros: object = new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : 0) })
const IDLE = new Proxy(
  {},
  {
    get(_, name) {
      if (name === 'store') return async () => zeros
      return name === 'sessions' ? () => zeros : () => 0
    },
  },
) as Gauges

/** What the service shows at `/metrics` once everything has happened, and the metrics of others. */
export async function createCatalogue(): Promise<Catalogue> {
  const metrics = createMetrics(IDLE)
  metrics.request('/v1/encode', 200, 1, 1)
  metrics.job('encode', 1, 1)
  metrics.batch(1)
  metrics.detached()
  metrics.telemetry('written', 1)
  metrics.error('internal')
  metrics.protocolError(400)
  metrics.threadLost('lost')
  metrics.reload('keys', true)
  metrics.store('fetch', 1, 'busy')
  metrics.storeCall('put', 1, 'unavailable')
  metrics.storeProblem('damaged_file')
  metrics.store('put', 1, 'full')
  metrics.storeProblem('thread_lost')
  const row = rowWith({
    input: { shape: 'scalar' },
    sent: { view: 'rows' },
    tokens: { before: 2, omitted: 1, encoded: 0, after: 1 },
    refusals: [{ format: 'csv@1', reason: 'bigger' }],
  })
  metrics.report({ op: 'encode', look_alikes: 1 }, row)
  metrics.ledgerDropped(1)
  metrics.uncaught()
  useProxies(metrics)
  useGateway(metrics)
  useArms(metrics)
  return new Map([...exposed(await metrics.registry.metrics()), ...foreign()])
}

function useProxies({ proxy }: Metrics): void {
  proxy.exchange('anthropic', 'answered')
  proxy.untouched('anthropic', 'failed')
  proxy.unrecorded('anthropic')
  const counts = { texts: 1, rewritten: 1, tokens_saved: 1 }
  proxy.rewrite('anthropic', { readable: true, ...counts, levers: ['verbosity'] })
  proxy.promptChange('anthropic', { place: 'tools', kind: 'date', at: 1, scope: 'key' })
  const misses = { idle: { count: 1, tokens: 1, cost: 1 } }
  proxy.account('anthropic', { ...NO_ACCOUNT, without_usage: 1, misses })
}

function useArms({ arms }: Metrics): void {
  const kinds = { retrieval: 1, same_call: 1, same_file: 1, failed_edit: 1 }
  const ofUnits = { heldOut: 1, treated: 1 }
  arms.results({
    results: { elided: 1, whole: 1 },
    followUps: { elided: kinds, whole: kinds },
    ofUnits,
  })
  arms.alarm(true)
}

function useGateway({ mcp, enrichment }: Metrics): void {
  mcp.call('server', 'ok')
  mcp.added('server', 1)
  mcp.tokens('server', 2, 1)
  mcp.connected('server', true)
  mcp.listChanged('server')
  enrichment({ kind: 'served', savedMs: 1 } as never)
  enrichment({ kind: 'wasted', bytes: 1 } as never)
  enrichment({ kind: 'declined', reasons: ['budget'] } as never)
  enrichment({ kind: 'decided', offer: { facts: {}, isUsed: true } } as never)
  enrichment({ kind: 'predicted', predicted: 1, actual: 1 })
  enrichment({ kind: 'refused' } as never)
}

function foreign(): [string, Series][] {
  return FOREIGN.map(([name, labels]) => [name, { labels: new Set(labels), grows: false }])
}

/** The series of a text in Prometheus' format. */
function exposed(text: string): [string, Series][] {
  const types = new Map<string, string>()
  const labels = new Map<string, Set<string>>()
  for (const line of text.split('\n')) {
    const [, metric, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (metric !== undefined && type !== undefined) types.set(metric, type)
    const [, name, inner = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? []
    if (name === undefined) continue
    const known = labels.get(name) ?? new Set(TARGET_LABELS)
    for (const [, label = ''] of inner.matchAll(/(\w+)="/g)) known.add(label)
    labels.set(name, known)
  }
  return [...labels].map(([name, known]) => [name, { labels: known, grows: grows(name, types) }])
}

function grows(name: string, types: ReadonlyMap<string, string>): boolean {
  const histogram = types.get(name.replace(/_(bucket|sum|count)$/, ''))
  return types.get(name) === 'counter' || histogram === 'histogram'
}
