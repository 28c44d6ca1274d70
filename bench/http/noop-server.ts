import { processEnv } from '../../src/config/env.ts'
import { loadConfig } from '../../src/config/load.ts'
import { jobRoute } from '../../src/http/jobs/job-route.ts'
import { startService } from '../../src/service/service.ts'
import { noopOperation } from './noop.ts'

/** The service as it is, with a route for the no-op job. */
const service = await startService(
  loadConfig({ env: processEnv(), overrides: { port: 0, host: '127.0.0.1' } }),
  {
    workerUrl: new URL('./noop-worker.ts', import.meta.url),
    routes: [
      jobRoute({
        path: '/noop',
        op: noopOperation.name,
        summary: 'Nothing',
        scope: 'encode',
        request: noopOperation.request,
        answer: noopOperation.answer,
      }),
    ],
  },
)
process.stdout.write(`listens on ${service.url}\n`)
process.once('SIGTERM', () => void service.close())
