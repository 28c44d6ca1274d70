import type { Metrics } from '../../observability/metrics.ts'
import type { Route } from './route.ts'

/** The metrics in Prometheus' text format. */
export const metricsRoute: Route<{ readonly metrics: Pick<Metrics, 'registry'> }> = {
  method: 'get',
  path: '/metrics',
  summary: 'Metrics for Prometheus',
  scope: 'metrics',
  answer: { media: 'text/plain' },
  mount: (app, { metrics }) =>
    app.get('/metrics', async c =>
      c.body(await metrics.registry.metrics(), 200, {
        'content-type': metrics.registry.contentType,
      }),
    ),
}
