import { processEnv } from '../../src/config/env.ts'
import { loadConfig } from '../../src/config/load.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { startService } from '../../src/service/service.ts'

/** The service without metrics; the log is off by its level. */
const service = await startService(loadConfig({ env: processEnv() }), {
  builders: {
    createMetrics: gauges => ({
      ...createMetrics(gauges),
      request: () => {},
      job: () => {},
      report: () => {},
      error: () => {},
      batch: () => {},
    }),
  },
})
process.stdout.write(`listens on ${service.url}\n`)
process.once('SIGTERM', () => void service.close())
