import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTracing, type TracedRequest } from '../../../src/observability/tracing.ts'
import { startTestService } from '../../integration/service/harness.ts'
import { type Collector, type Span, startCollector } from '../../support/collector.ts'
import { eventually } from '../../support/eventually.ts'
import { countRequest, exchange } from '../../support/raw-http.ts'
import { killProcesses, startProcess } from '../../support/service-process.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const sampled = `00-${TRACE}-${PARENT}-01`

let collector: Collector
beforeAll(async () => {
  collector = await startCollector()
})
afterAll(() => collector.close())
beforeEach(() => {
  collector.spans.length = 0
  collector.bodies.length = 0
})
afterEach(killProcesses)

const attributes = ({ attributes: list }: Span) =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]))

/** A span and those inside it. */
function tree(name: string) {
  const [root, ...others] = collector.spans.filter(span => span.name === name)
  if (root === undefined || others.length > 0) throw new Error(`${others.length} more of ${name}`)
  return { root, inside: collector.spans.filter(span => span.parentSpanId === root.spanId) }
}

/** Starts, does what `use` says and closes, which sends all spans. */
async function traced(
  use: (service: Awaited<ReturnType<typeof startTestService>>) => Promise<unknown>,
  share = '',
): Promise<void> {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `${collector.url}/`)
  vi.stubEnv('OTEL_TRACES_SAMPLER_ARG', share)
  const service = await startTestService({ workers: { count: 1 } })
  try {
    await use(service)
  } finally {
    await service.close()
    vi.unstubAllEnvs()
  }
}

describe('a traced service', () => {
  it('sends a span for each request, with the queue and the work inside', async () => {
    const secret = 'SECRETCONTENT'
    await traced(async ({ post, url }) => {
      const headers = { 'x-request-id': 'r1', 'x-api-key': secret }
      await post(`/v1/count?q=${secret}`, `{"content":"${secret}"}`, headers)
      await fetch(`${url}/${secret}`)
    })
    const { root, inside } = tree('POST /v1/count')
    expect(root).toMatchObject({ kind: 2 })
    expect(root.parentSpanId ?? '').toBe('')
    expect(attributes(root)).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/count',
      'http.response.status_code': 200,
      'haversack.request_id': 'r1',
      'haversack.tenant': 'local',
    })
    expect(inside.map(({ name }) => name).sort()).toEqual(['queue', 'work'])
    for (const span of inside) {
      expect(span.traceId).toBe(root.traceId)
      expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano))
      expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano))
    }
    expect(tree('GET none').inside).toEqual([])
    expect(tree('GET none').root.traceId).not.toBe(root.traceId)
    expect(collector.bodies.join('')).toContain('"service.name"')
    expect(collector.bodies.join('')).not.toContain(secret)
  })

  it('continues the trace of a caller, or begins one where there is none to continue', async () => {
    const bad = [
      '',
      'x',
      `00-${TRACE}-${PARENT}`,
      `00-${'0'.repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `ff-${TRACE}-${PARENT}-01`,
      `00-${TRACE.toUpperCase()}x-${PARENT}-01`,
      `${sampled}, ${sampled}`,
    ]
    await traced(async ({ post }) => {
      await post('/v1/count', '{"content":"x"}', { traceparent: sampled })
      for (const traceparent of bad) await post('/v1/decode', '{}', { traceparent })
      await post('/v1/encode', '{"content":"x"}', { traceparent: sampled.replace(/1$/, '0') })
    })
    const { root, inside } = tree('POST /v1/count')
    expect([root.traceId, root.parentSpanId]).toEqual([TRACE, PARENT])
    expect(inside.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE])
    const begun = collector.spans.filter(({ name }) => name === 'POST /v1/decode')
    expect(begun).toHaveLength(bad.length)
    for (const span of begun) expect([span.traceId, span.parentSpanId ?? '']).not.toContain(TRACE)
    expect(new Set(begun.map(({ traceId }) => traceId)).size).toBe(bad.length)
    // The caller chose not to be traced.
    expect(collector.spans.filter(({ name }) => name === 'POST /v1/encode')).toEqual([])
  })

  it('begins traces for the part that it is told, and always for traced callers', async () => {
    await traced(async ({ post }) => {
      for (let i = 0; i < 10; i++) await post('/v1/count', '{"content":"x"}')
      await post('/v1/encode', '{"content":"x"}', { traceparent: sampled })
    }, '0')
    expect(tree('POST /v1/encode').root.traceId).toBe(TRACE)
    expect(collector.spans).toHaveLength(3)
  })
})

describe('spans', () => {
  const request: TracedRequest = {
    requestId: 'r',
    method: 'POST',
    route: '/x',
    status: 200,
    started: performance.now(),
    totalMs: 10,
    timing: { queue: 2, work: 3 },
    tenant: 'acme',
    traceparent: undefined,
  }

  /** Start and end of a span after the start of its request, in milliseconds. */
  const times = (span: Span | undefined, { startTimeUnixNano }: Span) =>
    [span?.startTimeUnixNano, span?.endTimeUnixNano].map(
      time => Number(BigInt(time ?? 0) - BigInt(startTimeUnixNano)) / 1e6,
    )

  it('inside end with the answer, the work behind the queue', async () => {
    const tracing = startTracing(collector.url, 1)
    tracing.request(request)
    await tracing.close()
    const { root, inside } = tree('POST /x')
    const named = (name: string) => inside.find(span => span.name === name)
    const close = (...expected: number[]) => expected.map(ms => expect.closeTo(ms, 1))
    expect(times(root, root)).toEqual(close(0, 10))
    expect(times(named('work'), root)).toEqual(close(7, 10))
    expect(times(named('queue'), root)).toEqual(close(5, 7))
  })

  it('of a call of a tool are one with its server and one with the packing inside', async () => {
    const tracing = startTracing(collector.url, 0)
    const call = { server: 'one', tenant: 't', started: 100, upstreamMs: 6, totalMs: 10 }
    tracing.toolCall({ ...call, outcome: 'lost', traceparent: sampled })
    await tracing.close()
    const { root, inside } = tree('tools/call')
    expect(root).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, status: { code: 2 } })
    expect(attributes(root)).toMatchObject({ 'haversack.upstream': 'one' })
    const named = (name: string) => inside.find(span => span.name === name)
    const close = (...expected: number[]) => expected.map(ms => expect.closeTo(ms, 1))
    expect(times(named('upstream'), root)).toEqual(close(0, 6))
    expect(times(named('pack'), root)).toEqual(close(6, 10))
  })

  it('never begin before their request, whatever its times say', async () => {
    const tracing = startTracing(collector.url, 1)
    tracing.request({ ...request, timing: { queue: 900, work: 900 } })
    await tracing.close()
    const { root, inside } = tree('POST /x')
    for (const span of inside) {
      const [start = -1, end = -1] = times(span, root)
      expect(start).toBeGreaterThanOrEqual(0)
      expect(end).toBeGreaterThanOrEqual(start)
    }
  })

  it('of failures say so', async () => {
    const tracing = startTracing(collector.url, 1)
    for (const status of [200, 404, 503])
      tracing.request({ ...request, route: `/${status}`, status })
    await tracing.close()
    expect(tree('POST /503').root.status).toMatchObject({ code: 2 })
    for (const status of [200, 404]) {
      expect(tree(`POST /${status}`).root.status?.code ?? 0).toBe(0)
    }
  })
})

describe('a collector that is away', () => {
  it('holds up neither answers nor the end', async () => {
    const hanging = await startCollector({ hangs: true })
    const run = async (endpoint: string, exported: () => Promise<void>) => {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, HAVERSACK_LOG_LEVEL: 'error' }
      const service = await startProcess({ env })
      // As many as go out at once, so that one export is under way and stays unanswered.
      for (let i = 0; i < 20; i++) {
        const { answers } = await exchange(service.url, countRequest('a b').repeat(10), 10)
        expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
      }
      await exported()
      service.child.kill('SIGTERM')
      expect(await service.exited).toBe(0)
      expect(service.stderr()).toBe('')
    }
    const reached = () => eventually(() => expect(hanging.requests).toBeGreaterThan(0))
    await Promise.all([run(hanging.url, reached), run('http://127.0.0.1:1', async () => {})])
    await hanging.close()
  })
})

describe('the packages of OpenTelemetry', () => {
  // prom-client loads the interfaces, which are small, for itself.
  const hook = `import { registerHooks } from 'node:module'
    import { writeSync } from 'node:fs'
    registerHooks({ load(url, context, next) {
      if (/@opentelemetry.(?!api)/.test(url)) writeSync(2, 'loaded ' + url + '\\n')
      return next(url, context)
    } })`
  const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]

  it('are loaded where traces are on, and only there', async () => {
    const loads = async (endpoint: string) => {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, HAVERSACK_LOG_LEVEL: 'error' }
      const service = await startProcess({ env, execArgv })
      expect((await exchange(service.url, countRequest('a b'))).answers[0]?.status).toBe(200)
      service.child.kill('SIGTERM')
      expect(await service.exited).toBe(0)
      return service.stderr().includes('loaded ')
    }
    expect(await Promise.all([loads(''), loads(collector.url)])).toEqual([false, true])
  })
})
