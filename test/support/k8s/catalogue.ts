import { createMetrics, type Gauges } from '../../../src/observability/metrics.ts'
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
  metrics.storeProblem('damaged_file')
  metrics.store('put', 1, 'full')
  metrics.storeProblem('thread_lost')
  const tokens = { tokens_in: 2, tokens_out: 1 }
  const refusals = [{ format: 'csv@1', reason: 'bigger' }] as const
  metrics.report({
    op: 'encode',
    layer: 'L2',
    format: 'csv@1',
    shape: 'scalar',
    ...tokens,
    refusals,
  })
  return new Map([...exposed(await metrics.registry.metrics()), ...foreign()])
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
