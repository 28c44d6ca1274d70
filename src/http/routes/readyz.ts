import type { Route } from './route.ts'

/** 200 once the workers have answered; 503 while starting or draining. */
export const readyzRoute: Route = {
  method: 'get',
  path: '/readyz',
  summary: 'Whether the service takes work',
  scope: 'open',
  answer: { media: 'text/plain' },
  mount: (app, { health }) =>
    app.get('/readyz', c => c.text(health.state, health.state === 'ready' ? 200 : 503)),
}
