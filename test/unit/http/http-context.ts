import { Hono } from 'hono'
import type { AppContext, AppEnv, ServerBindings } from '../../../src/http/context.ts'

/** What `use` makes of the context of one request. */
export async function inContext<T>(
  request: { readonly method?: string; readonly headers?: Record<string, string> },
  use: (c: AppContext) => T,
  bindings: Partial<ServerBindings> = {},
): Promise<T> {
  const app = new Hono<AppEnv>()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  app.all('*', c => {
    try {
      resolve(use(c))
    } catch (error) {
      reject(error)
    }
    return c.body(null)
  })
  await app.request('/', request, bindings)
  return promise
}
