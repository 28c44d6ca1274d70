import { randomBytes } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { ANONYMOUS } from '../../access/access.ts'
import type { AppContext, AppEnv, Health, RequestState } from '../context.ts'
import { requestHeader } from '../request/request-header.ts'

/** Ids that are safe in a header and in a log line. */
const REQUEST_ID = /^[\w.:-]{1,128}$/

/** The status that is reported for an answer that was not sent, as in nginx. */
const CLIENT_LEFT = 499

/** A request as it is reported once its answer exists. */
export interface Observation {
  readonly state: RequestState
  readonly method: string
  /** The route's pattern, never the path, so that clients cannot make label values. */
  readonly route: string
  readonly status: number
  readonly totalMs: number
  /** The W3C header of a client that traces. */
  readonly traceparent: string | undefined
}

/**
 * Gives each request its id, answers `X-Request-Id` and `Server-Timing`, and reports its end. While
 * the service drains, each answer ends its connection.
 */
export function observe(
  health: Health,
  report: (observation: Observation) => void,
): MiddlewareHandler<AppEnv> {
  const nextId = createIds()
  return async (c, next) => {
    const state: RequestState = {
      requestId: requestIdOf(c) ?? nextId(),
      started: performance.now(),
      sent: false,
      bodyBytes: 0,
      answerBytes: 0,
      caller: ANONYMOUS,
      code: undefined,
      timing: {},
      last: health.state === 'draining',
    }
    c.set('state', state)
    await next()
    if (!state.sent) setHeaders(c, answerHeaders(c))
    report({
      state,
      method: c.req.method,
      route: routeLabel(c.req.routePath),
      status: state.status === undefined ? c.res.status : (state.status ?? CLIENT_LEFT),
      totalMs: performance.now() - state.started,
      traceparent: requestHeader(c, 'traceparent'),
    })
  }
}

/**
 * The headers that every answer carries. A route on the hot path puts them into its response
 * itself, because adding them to an existing response costs a tenth of the requests per second.
 */
export function answerHeaders(c: AppContext): Record<string, string> {
  const state = c.get('state')
  state.sent = true
  let entries = ''
  const { timing } = state
  for (const name in timing) entries += `${name};dur=${shownMs(state, timing[name] ?? 0)}, `
  const headers: Record<string, string> = {
    'x-request-id': state.requestId,
    'server-timing': `${entries}total;dur=${shownMs(state, performance.now() - state.started)}`,
  }
  if (state.last) headers['connection'] = 'close'
  return headers
}

/**
 * Whether a caller sees times with three decimals: operators do, who have the scope `metrics`. All
 * others see whole milliseconds, so that no header measures for a client what its network hides.
 */
export function seesExactTimes({ caller }: Pick<RequestState, 'caller'>): boolean {
  return caller.scopes.has('metrics')
}

function shownMs(state: RequestState, ms: number): number {
  return seesExactTimes(state) ? Math.round(ms * 1000) / 1000 : Math.round(ms)
}

function requestIdOf(c: AppContext): string | undefined {
  const offered = requestHeader(c, 'x-request-id')
  return offered !== undefined && REQUEST_ID.test(offered) ? offered : undefined
}

function setHeaders(c: AppContext, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
}

function routeLabel(pattern: string): string {
  return pattern === '/*' || pattern === '*' ? 'none' : pattern
}

/**
 * Makes ids that are unique across processes: a random part, and a counter. A random UUID for each
 * would cost eight times as much.
 */
export function createIds(): () => string {
  const prefix = randomBytes(9).toString('base64url')
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}
