import { monitorEventLoopDelay } from 'node:perf_hooks'
import { processEnv } from '../../src/config/env.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Route } from '../../src/http/routes/route.ts'
import { startService } from '../../src/service/service.ts'

/**
 * The service with one route more: delays of its main thread, processor time and memory since it
 * was last asked.
 */
export interface Measured {
  readonly delay_p50_ms: number
  readonly delay_p99_ms: number
  readonly delay_max_ms: number
  /** Processor time of the main thread alone, and of the whole process. */
  readonly main_ms: number
  readonly process_ms: number
  readonly resident_mib: number
}

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let main = process.threadCpuUsage()
let all = process.cpuUsage()

const total = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000

function measured(): Measured {
  const [mainNow, allNow] = [process.threadCpuUsage(), process.cpuUsage()]
  const facts: Measured = {
    delay_p50_ms: delay.percentile(50) / 1e6,
    delay_p99_ms: delay.percentile(99) / 1e6,
    delay_max_ms: delay.max / 1e6,
    main_ms: total(mainNow) - total(main),
    process_ms: total(allNow) - total(all),
    resident_mib: process.memoryUsage.rss() / 2 ** 20,
  }
  delay.reset()
  main = mainNow
  all = allNow
  return facts
}

const route: Route = {
  method: 'get',
  path: '/measured',
  summary: 'What the bench wants to know',
  scope: 'open',
  answer: { media: 'application/json' },
  mount: app => app.get('/measured', c => c.json(measured())),
}

const service = await startService(loadConfig({ env: processEnv() }), { routes: [route] })
process.stdout.write(`listens on ${service.url}\n`)
process.once('SIGTERM', () => void service.close())
