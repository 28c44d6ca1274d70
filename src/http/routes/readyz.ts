import type { Route } from './route.ts'

/** 200 once workers and store have answered; 503 while starting or draining, or without the store. */
export const readyzRoute: Route = {
  method: 'get',
  path: '/readyz',
  summary: 'Whether the service takes work',
  scope: 'open',
  answer: { media: 'text/plain' },
  mount: (app, { health }) =>
    app.get('/readyz', async c => {
      if (health.state !== 'ready') return c.text(health.state, 503)
      return (await health.storeAnswers()) ? c.text('ready') : c.text('the store is away', 503)
    }),
}
