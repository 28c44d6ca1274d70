import { describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../../../src/access/access.ts'
import type { RequestState } from '../../../src/http/context.ts'
import { reportRequest } from '../../../src/http/middleware/report-request.ts'
import { withForwarded } from '../../../src/http/proxy/forwarded-request.ts'
import type { TracedRequest } from '../../../src/observability/tracing.ts'
import { testApp } from '../../support/app.ts'

const state: RequestState = {
  requestId: 'r1',
  started: 12,
  sent: true,
  bodyBytes: 100,
  answerBytes: 50,
  caller: { ...ANONYMOUS, tenant: 'acme', keyId: 'k1' },
  code: undefined,
  timing: { queue: 1.23456, work: 2 },
  last: false,
}

/** All that operators are told of a request. */
function told(over: { route?: string; status?: number; state?: Partial<RequestState> } = {}) {
  const { state: fields, ...rest } = over
  const metrics: unknown[] = []
  const lines: unknown[] = []
  const traces: TracedRequest[] = []
  const log = (level: string) => (line: unknown, message?: string) => {
    lines.push([level, line, message])
  }
  reportRequest(
    {
      state: { ...state, ...fields },
      method: 'POST',
      route: '/v1/encode',
      status: 200,
      totalMs: 5.0004,
      traceparent: 'tp',
      ...rest,
    },
    {
      metrics: { request: (...args) => metrics.push(args) },
      logger: { info: log('info'), debug: log('debug') },
      tracing: { request: request => traces.push(request) },
    },
  )
  return { metrics, lines, traces }
}

describe('a forwarded request', () => {
  it('has its model, the tokens of its new results and the status of its vendor too', () => {
    const forwarded = {
      ...{ model: 'gpt-5', results: 2, before: 100, after: 30, saved: 90 },
      upstreamStatus: 529,
    }
    expect(told({ state: { forwarded } }).lines).toMatchObject([
      [
        'info',
        {
          ...{ tenant: 'acme', model: 'gpt-5', results: 2, tokens_before: 100, tokens_after: 30 },
          ...{ tokens_saved: 90, upstream_status: 529 },
        },
        'request',
      ],
    ])
  })

  it('has the sums of all messages of a connection', () => {
    const fresh = { tokenizer: 'o200k_base', count: 1, before: 10, after: 4 } as const
    const report = { ...{ readable: true, texts: 1, rewritten: 1, tokens_saved: 6 }, fresh }
    const first = withForwarded(undefined, { ...report, model: 'm' })
    const all = withForwarded(first, report)
    expect(all).toEqual({ model: 'm', results: 2, before: 20, after: 8, saved: 12 })
    expect(withForwarded(all, undefined, 'of the path').model).toBe('of the path')
  })
})

describe('a finished request', () => {
  it('is a line with these fields and no others, a metric and a trace', () => {
    const { metrics, lines, traces } = told()
    expect(metrics).toEqual([['/v1/encode', 200, 5.0004, 100]])
    expect(lines).toEqual([
      [
        'info',
        {
          id: 'r1',
          tenant: 'acme',
          key: 'k1',
          method: 'POST',
          route: '/v1/encode',
          status: 200,
          code: undefined,
          bytes_in: 100,
          bytes_out: 50,
          queue_ms: 1.235,
          work_ms: 2,
          total_ms: 5,
        },
        'request',
      ],
    ])
    expect(traces).toEqual([
      {
        requestId: 'r1',
        tenant: 'acme',
        method: 'POST',
        route: '/v1/encode',
        status: 200,
        started: 12,
        totalMs: 5.0004,
        timing: state.timing,
        traceparent: 'tp',
      },
    ])
  })

  it('tells the code of a problem, and no times of a job that there was not', () => {
    const { lines } = told({ status: 401, state: { code: 'unauthorized', timing: {} } })
    expect(lines).toMatchObject([
      ['info', { code: 'unauthorized', queue_ms: undefined, work_ms: undefined }, 'request'],
    ])
  })

  it.each(['/livez', '/readyz', '/metrics'])('is a line for debugging only: %s', route => {
    const { lines, metrics, traces } = told({ route })
    expect(lines).toMatchObject([['debug', { route }, 'request']])
    expect([metrics.length, traces.length]).toEqual([1, 1])
  })
})

describe('the log of the app', () => {
  it('has one line a request, without path, query, content or header', async () => {
    const { app, post, logged } = testApp()
    const secret = 'SECRET'
    const headers = { 'x-request-id': `${secret}\u00e9`, 'user-agent': secret, referer: secret }
    await post('/v1/count', `{"content":"${secret}"}`, headers)
    await post('/v1/count', `{"content":"${secret}","${secret}":1}`, headers)
    await post('/v1/count', secret, headers)
    await post('/v1/count', secret, { ...headers, 'content-type': secret })
    await post(`/v1/count?${secret}=${secret}`, `{"content":"${secret}"}`)
    await post(`/${secret}/${'x'.repeat(10_000)}`, secret)
    await app.request(`/v1/count/${secret}`, { method: 'SECRET-METHOD', headers })
    await app.request('/openapi.json', { headers: { ...headers, host: `${secret}.example` } })
    expect(logged.map(({ message }) => message)).toEqual(Array(8).fill('request'))
    const lines = logged.map(({ fields }) => fields) as Record<string, unknown>[]
    expect(lines.map(({ status }) => status)).toEqual([200, 400, 400, 415, 200, 404, 404, 403])
    expect(lines.map(({ route }) => route)).toEqual([
      ...Array(5).fill('/v1/count'),
      ...Array(3).fill('none'),
    ])
    for (const { method, ...line } of lines) expect(JSON.stringify(line)).not.toContain(secret)
  })
})
