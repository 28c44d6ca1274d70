import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Hono } from 'hono'
import { AppError } from '../../errors.ts'
import type { Exchange } from '../../proxy/exchange.ts'
import type { AppContext, AppDeps, AppEnv } from '../context.ts'
import { type DropIn, dropInFor } from '../drop-ins.ts'
import { authorize } from '../middleware/authorize.ts'
import { type ForwardedBody, rewriteBody } from '../rewrite-body.ts'

/** Forwards every path and method below the prefixes of the configured vendors. */
export function mountDropIns(app: Hono<AppEnv>, deps: AppDeps): void {
  for (const dropIn of deps.dropIns ?? []) {
    const paths = `${dropIn.pattern}/*`
    app.all(paths, authorize(deps.access, 'proxy'), c => forward(c, dropIn, deps))
  }
}

async function forward(c: AppContext, dropIn: DropIn, deps: AppDeps): Promise<Response> {
  const { incoming } = c.env
  // As it was sent: the app's own path has its dot segments resolved.
  const path = dropInFor([dropIn], incoming?.url)?.path
  if (incoming === undefined || path === undefined) throw new AppError('not_found', 'no such route')
  const body = await rewriteBody(c, dropIn.vendor, path, deps)
  const exchange = await exchangeOf(c, dropIn, path, body)
  note(c, exchange, dropIn, deps)
  return RESPONSE_ALREADY_SENT
}

async function exchangeOf(
  c: AppContext,
  { forwarder }: DropIn,
  path: string,
  { body, ticket, readingMs, continued, paused, recorded }: ForwardedBody,
): Promise<Exchange> {
  const { incoming, outgoing, upgradeHead } = c.env
  const frame = c.get('frame')
  const addedMs = performance.now() - frame.started - readingMs
  const extraHeaders = { 'x-haversack-added-ms': addedMs.toFixed(3) }
  if (upgradeHead !== undefined) {
    return forwarder.upgrade(incoming!, upgradeHead, { path, extraHeaders })
  }
  if (frame.last) outgoing!.shouldKeepAlive = false
  const exchange = forwarder.forward(incoming!, outgoing!, {
    path,
    extraHeaders,
    awaitsContinue: c.env.awaitsContinue === true && !continued,
    ...(body === undefined ? {} : { body }),
    ...(recorded === undefined ? {} : { holdEnd: recorded }),
    // With an answer begun, the body has been sent.
    ...(ticket === undefined ? {} : { onAnswer: { head: ticket.leave } }),
  })
  if (paused) incoming!.resume()
  return exchange.finally(ticket?.leave)
}

/** What operators are told of it; nothing of what was said in it. */
function note(c: AppContext, exchange: Exchange, { vendor }: DropIn, deps: AppDeps): void {
  const frame = c.get('frame')
  const { outcome, status, sent_bytes, received_bytes, error } = exchange
  // No headers of ours: they are out.
  frame.sent = true
  frame.status = status
  frame.bodyBytes = sent_bytes
  frame.answerBytes = received_bytes
  deps.metrics.proxy.exchange(vendor, outcome)
  if (error === null) return
  deps.logger.warn({ requestId: frame.requestId, vendor, outcome, error }, 'an exchange failed')
}
