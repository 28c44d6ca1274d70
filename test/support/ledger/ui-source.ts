import type { UiSource } from '../../../src/http/context.ts'
import { ownEndedPasses } from '../ended-passes.ts'

/** An idle service, as the page shows it. */
export const IDLE_SERVICE: UiSource = {
  gauges: {
    threads: () => 1,
    utilization: () => 0,
    jobsWaiting: () => 0,
    waitMs: () => 0,
    connections: () => 0,
    store: async () => null,
  },
  upstreams: [],
  passes: { secret: Buffer.alloc(32, 1), ended: ownEndedPasses() },
}
