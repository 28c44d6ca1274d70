import { z } from 'zod'
import { processEnv } from '../../src/config/env.ts'
import { loadConfig } from '../../src/config/load.ts'
import { jobRoute } from '../../src/http/jobs/job-route.ts'
import { startService } from '../../src/service/service.ts'

/** The service, with an operation that takes as long as its request says. Ends without a grace. */
const config = loadConfig({
  env: processEnv(),
  overrides: { limits: { drain_grace_ms: 0, drain_timeout_ms: 1 } },
})
const route = jobRoute({
  path: '/v1/burn',
  op: 'burn',
  summary: 'burn',
  scope: 'encode',
  request: z.unknown(),
  answer: z.unknown(),
})
const service = await startService(config, {
  workerUrl: new URL('./burning-worker.ts', import.meta.url),
  routes: [route],
})
process.stdout.write(`listens on ${service.url}\n`)
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)))
