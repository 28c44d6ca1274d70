import { isIP } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../core/base/errors.ts'
import type { AppContext, AppEnv } from '../context.ts'
import { requestHeader } from '../request/request-header.ts'

/**
 * Refuses requests that a web page made a browser send. These have a `Host` that a foreign DNS
 * server may have pointed at this address (rebinding), or an `Origin` other than the service
 * itself.
 * @param allowedHosts names by which clients reach the service, beside addresses and `localhost`;
 * asked each time, because a reload may bring another list
 */
export function checkOrigin(allowedHosts: () => readonly string[]): MiddlewareHandler<AppEnv> {
  let names: readonly string[] = []
  let allowed = new Set(['localhost'])
  // Clients use few different hosts, so hosts that passed once are not parsed again.
  const known = new Set<string>()

  function isAllowed(host: string): boolean {
    if (names !== allowedHosts()) {
      names = allowedHosts()
      allowed = new Set(['localhost', ...names.map(name => name.toLowerCase())])
      known.clear()
    }
    if (known.has(host)) return true
    const name = hostname(host)
    if (!allowed.has(name) && isIP(name) === 0) return false
    if (known.size < 100) known.add(host)
    return true
  }

  return (c, next) => {
    const host = requestHeader(c, 'host') ?? ''
    if (host === '' && isHttp11(c)) {
      throw new AppError('invalid_request', 'the Host header is missing')
    }
    if (host !== '' && !isAllowed(host)) {
      throw new AppError('forbidden', 'the Host header names another machine (allowed_hosts)')
    }
    if (!isOwnOrigin(c, host)) throw new AppError('forbidden', 'requests of web pages are refused')
    return next()
  }
}

/** RFC 9112, 3.2: HTTP/1.1 has a Host. Without a port (`app.request()`) there is no version. */
function isHttp11(c: AppContext): boolean {
  return c.env?.incoming?.httpVersion === '1.1'
}

function isOwnOrigin(c: AppContext, host: string): boolean {
  const origin = requestHeader(c, 'origin')
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`
}

/** A `Host` header without its port, and without the brackets of an IPv6 address. */
function hostname(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}
