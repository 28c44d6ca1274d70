import type { Hono, MiddlewareHandler } from 'hono'
import { AppError } from '../../core/base/errors.ts'
import type { AppContext, AppDeps, AppEnv } from '../context.ts'
import { authorize } from '../middleware/authorize.ts'
import { answerAlive } from './operator.ts'
import { serveSavings } from './savings.ts'

/**
 * Mounts what the command of `haversack run` may ask beside the proxies: what was saved.
 * @param below a path that is a secret, with a slash before it; logs have `/:secret` in its place
 */
export function mountBelowSecret(app: Hono<AppEnv>, below: string, deps: AppDeps): void {
  const mount = (
    path: string,
    authorized: MiddlewareHandler<AppEnv>,
    serve: (c: AppContext) => Promise<Response>,
  ): void => {
    app.use(`/:secret${path}`, async (c, next) => {
      if (c.req.path !== below + path) return next()
      let response: Response | undefined
      await authorized(c, async () => {
        response = await serve(c)
      })
      return response
    })
  }
  app.use('/:secret/livez', (c, next) =>
    c.req.path === `${below}/livez` ? Promise.resolve(answerAlive(c, deps)) : next(),
  )
  mount('/v1/savings', authorize(deps.access, 'proxy'), c => {
    checkMethod(c, 'GET')
    return serveSavings(c, deps)
  })
}

function checkMethod(c: AppContext, method: string): void {
  if (c.req.method !== method) throw new AppError('method_not_allowed', `a ${method} is wanted`)
}
