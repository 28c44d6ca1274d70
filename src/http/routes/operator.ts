import type { Metrics } from '../../observability/metrics.ts'
import {
  CHALLENGE,
  CHALLENGE_HEADER,
  PROOF_HEADER,
  proofOf,
  SERVICE_HEADER,
} from '../../runtime/service-proof.ts'
import type { StoreHealth } from '../../store/store-health.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { requestHeader } from '../request/request-header.ts'
import type { Route } from './route.ts'

/**
 * 200 while the event loop turns; asks nothing of workers, so that a busy service is not restarted.
 */
export const livezRoute: Route<Pick<AppDeps, 'secret'>> = {
  method: 'get',
  path: '/livez',
  summary: 'Whether the process is alive',
  scope: 'open',
  answer: { media: 'text/plain' },
  mount: (app, deps) => app.get('/livez', c => answerAlive(c, deps)),
}

/** Also says to a client that asks who this is. */
export function answerAlive(c: AppContext, { secret }: Pick<AppDeps, 'secret'>): Response {
  const challenge = requestHeader(c, CHALLENGE_HEADER) ?? ''
  const port = c.env?.incoming?.socket?.localPort
  const isAsked = secret !== undefined && port !== undefined && CHALLENGE.test(challenge)
  const proof = isAsked ? { [PROOF_HEADER]: proofOf(secret, challenge, port) } : {}
  return c.text('ok', 200, { [SERVICE_HEADER]: '1', ...proof })
}

/**
 * The answer for each state of the store. If the store cannot be opened, content passes unchanged
 * or encoded, so the service takes work. If it does not answer, each request would wait for it, so
 * the service is not ready.
 */
const BODIES: Readonly<Record<StoreHealth, { readonly text: string; readonly status: 200 | 503 }>> =
  {
    open: { text: 'ready', status: 200 },
    salvaging: { text: 'ready; the store is being salvaged', status: 200 },
    unavailable: { text: 'ready; the store cannot be opened', status: 200 },
    away: { text: 'the store is away', status: 503 },
  }

/**
 * 200 once workers and store have answered; 503 while starting or draining, or without the store.
 */
export const readyzRoute: Route<Pick<AppDeps, 'health'>> = {
  method: 'get',
  path: '/readyz',
  summary: 'Whether the service takes work',
  scope: 'open',
  answer: { media: 'text/plain' },
  mount: (app, { health }) =>
    app.get('/readyz', async c => {
      if (health.state !== 'ready') return c.text(health.state, 503)
      const { text, status } = BODIES[await health.store()]
      return c.text(text, status)
    }),
}

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
