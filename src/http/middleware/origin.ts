import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../errors.ts'
import { type AppContext, type AppEnv, requestHeader } from '../context.ts'

/**
 * Refuses what a web page made a browser send: a `Host` that is none of this machine's names while the
 * service listens on loopback (DNS rebinding), and an `Origin` other than the service itself.
 * @param loopbackOnly whether the service listens on loopback, where only these names lead to it
 */
export function checkOrigin(loopbackOnly: boolean): MiddlewareHandler<AppEnv> {
  return (c, next) => {
    // Browsers always send one; a request without is none of theirs.
    const host = requestHeader(c, 'host')
    if (loopbackOnly && host !== undefined && !isLoopbackName(host)) {
      throw new AppError('forbidden', 'the Host header names another machine')
    }
    if (!isOwnOrigin(c, host)) throw new AppError('forbidden', 'requests of web pages are refused')
    return next()
  }
}

function isOwnOrigin(c: AppContext, host: string | undefined): boolean {
  const origin = requestHeader(c, 'origin')
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`
}

/** Names that no DNS server decides on, with any port. */
function isLoopbackName(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)
}
