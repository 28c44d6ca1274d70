import { type OpenApi, openApi } from '../openapi.ts'
import type { Route, RouteDoc } from './route.ts'

/**
 * The schema of all `documented` routes, made at the first request, since few processes are asked.
 */
export function openApiRoute(documented: readonly RouteDoc[]): Route<unknown> {
  let document: OpenApi | undefined
  const doc: RouteDoc = {
    method: 'get',
    path: '/openapi.json',
    summary: 'This schema',
    scope: 'any',
    answer: { media: 'application/json' },
  }
  return {
    ...doc,
    mount: app =>
      app.get(doc.path, c => {
        document ??= openApi([...documented, doc])
        return c.json(document)
      }),
  }
}
