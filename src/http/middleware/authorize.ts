import type { MiddlewareHandler } from 'hono'
import type { Access } from '../../access/access.ts'
import { AppError } from '../../core/base/errors.ts'
import type { AppContext, AppEnv } from '../context.ts'
import { requestHeader } from '../request/request-header.ts'
import type { RouteScope } from '../routes/route.ts'

/** Lets a request pass if its key has the scope, and notes its caller. Throws as `Access` does. */
export function authorize(
  access: Pick<Access, 'identify' | 'allow'>,
  scope: Exclude<RouteScope, 'open'>,
): MiddlewareHandler<AppEnv> {
  return (c, next) => {
    const caller = access.identify(() => {
      const own = requestHeader(c, 'x-haversack-key')
      // On proxy routes the usual headers carry the vendor's key.
      if (scope === 'proxy') return own
      // With our own header, the usual ones may be for an MCP server.
      const isMcp = [scope].flat().some(each => each === 'mcp')
      return isMcp && own !== undefined ? own : presentedKey(c)
    })
    c.get('state').caller = caller
    access.allow(caller, scope)
    return next()
  }
}

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

/**
 * The key of a request. Two different keys are refused, because a proxy in front might use the
 * other one.
 */
function presentedKey(c: AppContext): string | undefined {
  const authorization = requestHeader(c, 'authorization')
  const apiKey = requestHeader(c, 'x-api-key')
  if (authorization === undefined) return apiKey
  const bearer = BEARER.exec(authorization)?.[1]
  if (bearer === undefined) throw new AppError('unauthorized', 'Authorization must be a Bearer key')
  if (apiKey !== undefined && apiKey !== bearer) {
    throw new AppError('unauthorized', 'Authorization and X-Api-Key name different keys')
  }
  return bearer
}
