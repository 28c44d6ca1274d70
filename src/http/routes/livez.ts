import type { Route } from './route.ts'

/**
 * 200 while the event loop turns; asks nothing of workers, so that a busy service is not restarted.
 */
export const livezRoute: Route = {
  method: 'get',
  path: '/livez',
  summary: 'Whether the process is alive',
  scope: 'open',
  answer: { media: 'text/plain' },
  mount: app => app.get('/livez', c => c.text('ok')),
}
