import type { Config } from '../config/config.ts'
import type { ServerLimits } from '../http/server.ts'

type Limits = Config['limits']

/** What connections may cost, by the configuration. */
export function serverLimits(limits: Limits): ServerLimits {
  return {
    maxConnections: limits.max_connections,
    headerTimeoutMs: limits.header_timeout_ms,
    requestTimeoutMs: limits.request_timeout_ms,
    idleTimeoutMs: limits.idle_timeout_ms,
    // Longer than any job may wait and take.
    silenceTimeoutMs: queueTimeoutMs(limits) + limits.job_timeout_ms,
  }
}

/** Longer than one job may run: a queue of jobs outlives the replacement of stuck threads. */
export function queueTimeoutMs(limits: Limits): number {
  return limits.job_timeout_ms + limits.request_timeout_ms
}
