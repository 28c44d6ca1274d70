import { serve } from '@hono/node-server'
import { Hono } from 'hono'

/** The yardstick: the same framework and adapter, reads the body, answers a constant. */
const app = new Hono()
app.post('/noop', async c => {
  await c.req.arrayBuffer()
  return c.json({ done: true })
})

serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.stdout.write(`listens on http://127.0.0.1:${port}\n`)
})
