import { randomUUID } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import type { AppEnv } from '../context.ts'

/** Ids that are safe in a header and in a log line. */
const REQUEST_ID = /^[\w.:-]{1,128}$/

/** What is known of a request once its answer stands. */
export interface Observation {
  readonly requestId: string
  readonly method: string
  /** The route's pattern, never the path, so that clients cannot make label values. */
  readonly route: string
  readonly status: number
  readonly bodyBytes: number
  readonly totalMs: number
}

/** Gives each request its id, answers `X-Request-Id` and `Server-Timing`, and reports its end. */
export function observe(report: (observation: Observation) => void): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const started = performance.now()
    const offered = c.req.header('x-request-id')
    const requestId = offered !== undefined && REQUEST_ID.test(offered) ? offered : randomUUID()
    c.set('requestId', requestId)
    await next()
    const totalMs = performance.now() - started
    const timing = c.get('timing') ?? ''
    c.header('x-request-id', requestId)
    c.header('server-timing', `${timing}total;dur=${totalMs.toFixed(3)}`)
    report({
      requestId,
      method: c.req.method,
      route: routeLabel(c.req.routePath),
      status: c.res.status,
      bodyBytes: c.get('bodyBytes') ?? 0,
      totalMs,
    })
  }
}

function routeLabel(pattern: string): string {
  return pattern === '/*' || pattern === '*' ? 'none' : pattern
}
