import { builtInPrices } from '../../config/prices.ts'
import { bareModelName } from '../../core/tokens/profiles.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Tracing } from '../../observability/tracing.ts'
import type { ForwardedRequest } from '../proxy/forwarded-request.ts'
import type { Observation } from './observe.ts'

interface Reporters {
  readonly metrics: Pick<Metrics, 'request'>
  readonly logger: Pick<Logger, 'info' | 'debug'>
  readonly tracing?: Pick<Tracing, 'request'>
}

/** Probes and scrapes are frequent, and their log lines are not useful. */
const QUIET = new Set(['/livez', '/readyz', '/metrics'])

/** Reports a finished request to operators: metrics, one line without content, a trace. */
export function reportRequest(observation: Observation, reporters: Reporters): void {
  const { state, method, route, status, totalMs, traceparent } = observation
  const { metrics, logger, tracing } = reporters
  metrics.request(route, status, totalMs, state.bodyBytes)
  const line = {
    id: state.requestId,
    tenant: state.caller.tenant,
    key: state.caller.keyId,
    method,
    route,
    status,
    code: state.code,
    ...forwardedLine(state.forwarded),
    bytes_in: state.bodyBytes,
    bytes_out: state.answerBytes,
    queue_ms: rounded(state.timing['queue']),
    work_ms: rounded(state.timing['work']),
    total_ms: rounded(totalMs),
  }
  if (QUIET.has(route)) logger.debug(line, 'request')
  else logger.info(line, 'request')
  tracing?.request({
    requestId: state.requestId,
    tenant: state.caller.tenant,
    method,
    route,
    status,
    started: state.started,
    totalMs,
    timing: state.timing,
    traceparent,
  })
}

/** Fields of a forwarded request; the sums of these figures are what a tenant saved. */
function forwardedLine(forwarded: ForwardedRequest | undefined) {
  if (forwarded === undefined) return {}
  const { model, results, before, after, saved, upstreamStatus } = forwarded
  return {
    upstream_status: upstreamStatus,
    model: knownModel(model),
    results,
    tokens_before: before,
    tokens_after: after,
    tokens_saved: saved,
  }
}

let models: readonly string[] | undefined

/**
 * The beginning of a model's name by which its price is known; `other` if there is none. A name may
 * be anything that a client sends, and that is in no log.
 */
function knownModel(model: string | undefined): string | undefined {
  if (model === undefined) return undefined
  models ??= builtInPrices()
    .flatMap(({ model: known }) => known ?? [])
    .sort((a, b) => b.length - a.length)
  const name = bareModelName(model)
  return models.find(known => name.startsWith(known.toLowerCase())) ?? 'other'
}

/** Whole microseconds. */
function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000
}
