import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { VERSION } from '../runtime/version.ts'

/** A finished request, as far as traces describe it: never content. */
export interface TracedRequest {
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  /** By `performance.now()`. */
  readonly started: number
  readonly totalMs: number
  readonly timing: Readonly<Record<string, number>>
  readonly tenant: string
  /** The W3C header that the client sent. */
  readonly traceparent: string | undefined
}

/** A call of a tool through the MCP gateway that has ended. */
export interface TracedToolCall {
  readonly server: string
  readonly outcome: string
  readonly tenant: string
  /** By `performance.now()`. */
  readonly started: number
  readonly upstreamMs: number
  readonly totalMs: number
  /** The W3C trace context of the client's request. */
  readonly traceparent: string | undefined
}

export interface Tracing {
  request(request: TracedRequest): void
  toolCall(call: TracedToolCall): void
  /** Sends what waits. */
  close(): Promise<void>
}

/** Outcomes of calls that their server decided. */
const ANSWERED: ReadonlySet<string> = new Set(['result', 'error'])

/** Longest wait for the collector at the end, in milliseconds. */
const CLOSE_MS = 2_000

/**
 * Sends a span for each request to an OTLP collector, with one inside for the queue and one for the
 * work. They are made afterwards from the times that are measured anyway. Loaded only if traces
 * are on.
 * @param endpoint base URL; `/v1/traces` is added. Headers come from `OTEL_EXPORTER_OTLP_HEADERS`.
 * @param ratio share of the requests that start a trace; those of traced callers always have one
 */
export function startTracing(endpoint: string, ratio: number): Tracing {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: CLOSE_MS })
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': 'haversack', 'service.version': VERSION }),
    ),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('haversack', VERSION)

  return {
    request({ requestId, method, route, status, started, totalMs, timing, tenant, traceparent }) {
      const at = performance.timeOrigin + started
      const span = tracer.startSpan(
        `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          startTime: at,
          attributes: {
            'http.request.method': method,
            'http.route': route,
            'http.response.status_code': status,
            'haversack.request_id': requestId,
            'haversack.tenant': tenant,
          },
        },
        parentOf(traceparent),
      )
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      const inside = trace.setSpan(ROOT_CONTEXT, span)
      // Both end with the answer, the work after the queue.
      let end = at + totalMs
      for (const [name, ms] of Object.entries(timing).reverse()) {
        tracer.startSpan(name, { startTime: Math.max(at, end - ms) }, inside).end(end)
        end = Math.max(at, end - ms)
      }
      span.end(at + totalMs)
    },
    toolCall({ server, outcome, tenant, started, upstreamMs, totalMs, traceparent }) {
      const at = performance.timeOrigin + started
      const attributes = {
        'mcp.method.name': 'tools/call',
        'haversack.upstream': server,
        'haversack.outcome': outcome,
        'haversack.tenant': tenant,
      }
      const options = { kind: SpanKind.SERVER, startTime: at, attributes }
      const span = tracer.startSpan('tools/call', options, parentOf(traceparent))
      if (!ANSWERED.has(outcome)) span.setStatus({ code: SpanStatusCode.ERROR })
      const inside = trace.setSpan(ROOT_CONTEXT, span)
      const answered = at + upstreamMs
      tracer.startSpan('upstream', { kind: SpanKind.CLIENT, startTime: at }, inside).end(answered)
      tracer.startSpan('pack', { startTime: answered }, inside).end(at + totalMs)
      span.end(at + totalMs)
    },
    async close() {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, CLOSE_MS).unref()
      // If the collector cannot be reached, the service must still end in time.
      await Promise.race([provider.shutdown().catch(() => {}), late])
      clearTimeout(timer)
    },
  }
}

function parentOf(traceparent: string | undefined) {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent)
  return parent === null
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
}
