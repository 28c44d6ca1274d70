import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Tracing } from '../../observability/tracing.ts'
import type { Observation } from './observe.ts'

interface Reporters {
  readonly metrics: Pick<Metrics, 'request'>
  readonly logger: Pick<Logger, 'info' | 'debug'>
  readonly tracing?: Pick<Tracing, 'request'>
}

/** Probes and scrapes come all the time and say nothing. */
const QUIET = new Set(['/livez', '/readyz', '/metrics'])

/** Tells operators of a finished request: metrics, one line without content, a trace. */
export function reportRequest(observation: Observation, reporters: Reporters): void {
  const { frame, method, route, status, totalMs, traceparent } = observation
  const { metrics, logger, tracing } = reporters
  metrics.request(route, status, totalMs, frame.bodyBytes)
  const line = {
    id: frame.requestId,
    tenant: frame.caller.tenant,
    key: frame.caller.keyId,
    method,
    route,
    status,
    code: frame.code,
    bytes_in: frame.bodyBytes,
    bytes_out: frame.answerBytes,
    queue_ms: rounded(frame.timing['queue']),
    work_ms: rounded(frame.timing['work']),
    total_ms: rounded(totalMs),
  }
  if (QUIET.has(route)) logger.debug(line, 'request')
  else logger.info(line, 'request')
  tracing?.request({
    requestId: frame.requestId,
    tenant: frame.caller.tenant,
    method,
    route,
    status,
    started: frame.started,
    totalMs,
    timing: frame.timing,
    traceparent,
  })
}

/** Whole microseconds. */
function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000
}
