import { Hono } from 'hono'
import { AppError } from '../core/base/errors.ts'
import { OWN_DIALECTS } from '../core/dialects/lookup.ts'
import type { AppContext, AppDeps, AppEnv } from './context.ts'
import { authorize } from './middleware/authorize.ts'
import { answerHeaders, observe } from './middleware/observe.ts'
import { checkOrigin } from './middleware/origin.ts'
import { reportRequest } from './middleware/report-request.ts'
import { vendorProxyFor } from './proxy/vendor-proxies.ts'
import { problemResponse, vendorResponse } from './response/problems.ts'
import { mountBelowSecret } from './routes/below-secret.ts'
import type { Route } from './routes/route.ts'
import { mountVendorProxies } from './routes/vendor-proxy.ts'

/** What there is beside the vendor proxies. */
export interface Offered {
  readonly routes: readonly Route[]
  mountUi(app: Hono<AppEnv>): void
}

/**
 * The vendor proxies, and what is offered beside them.
 * @param offered absent: they are below a secret, and alone
 */
export function createBaseApp(deps: AppDeps, offered?: Offered): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.use(observe(deps.health, observation => reportRequest(observation, deps)))
  app.use(checkOrigin(deps.allowedHosts))

  const refuse = (c: AppContext, error: unknown, headers = {}): Response => {
    const state = c.get('state')
    const { requestId } = state
    const problem = error instanceof AppError ? error.toProblem() : UNEXPECTED
    // Anything but an AppError is a bug. Its text is logged and not sent.
    if (problem === UNEXPECTED) deps.logger.error({ requestId, err: error }, 'unexpected error')
    deps.metrics.error(problem.code)
    state.code = problem.code
    const all = { ...answerHeaders(c), ...headers }
    const asked = vendorProxyFor(deps.vendorProxies ?? [], c.env?.incoming?.url)
    if (asked !== null) return vendorResponse(asked.proxy.vendor, problem, all)
    return problemResponse(problem, requestId, all)
  }

  // A caller without a key must not learn which paths exist.
  const knownCaller = authorize(deps.access, 'any')
  const below = deps.proxiesBelow
  const methods = new Map<string, string[]>()
  for (const route of offered?.routes ?? []) {
    const method = route.method.toUpperCase()
    methods.set(route.path, [...(methods.get(route.path) ?? []), method])
    if (route.scope !== 'open') app.on(method, route.path, authorize(deps.access, route.scope))
    route.mount(app, deps)
  }
  for (const [path, offered] of methods) {
    const allow = offered.join(', ')
    app.all(path, knownCaller, c => refuse(c, wrongMethod(path, allow), { allow }))
  }
  if (below !== undefined) mountBelowSecret(app, below, deps)
  offered?.mountUi(app)
  mountVendorProxies(app, deps)
  for (const { name } of below === undefined ? OWN_DIALECTS : []) {
    const detail = `no upstream is configured: HAVERSACK_${name.toUpperCase()}_URL`
    const proxyCaller = authorize(deps.access, 'proxy')
    app.all(`/${name}/*`, proxyCaller, c => refuse(c, new AppError('not_found', detail)))
  }
  app.all('*', knownCaller, c =>
    refuse(c, new AppError('not_found', unknownRoute(c.req.path, below))),
  )
  app.onError((error, c) => refuse(c, error))
  return app
}

const UNEXPECTED = { code: 'internal', detail: 'an unexpected error; it was logged' } as const

/** Tells a client whose base URL lacks the prefix of its vendor. */
function unknownRoute(path: string, below: string | undefined): string {
  const plain = path.replace(/^\/v1(?=\/)/, '')
  const asked = OWN_DIALECTS.find(({ own }) => own.unversioned.test(plain))
  if (asked === undefined || below !== undefined) return 'no such route'
  const prefix = `/${asked.name}`
  return `no such route; this API is at ${prefix}${path}: the base URL must end with ${prefix}`
}

function wrongMethod(path: string, allow: string): AppError {
  return new AppError('method_not_allowed', `${path} answers ${allow} only`)
}
