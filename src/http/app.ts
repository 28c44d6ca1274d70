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
import { armsRoute } from './routes/arms.ts'
import { mountBelowSecret } from './routes/below-secret.ts'
import { configRoute } from './routes/config.ts'
import { FINGERPRINT_TEAM_ROUTES } from './routes/fingerprint-teams.ts'
import { fingerprintsRoute } from './routes/fingerprints.ts'
import { gainRoute } from './routes/gain.ts'
import { JOB_ROUTES } from './routes/jobs.ts'
import { MCP_ROUTES } from './routes/mcp.ts'
import { openApiRoute } from './routes/openapi.ts'
import { livezRoute, metricsRoute, readyzRoute } from './routes/operator.ts'
import { retrieveRoute } from './routes/retrieve.ts'
import type { Route } from './routes/route.ts'
import { savingsRoute } from './routes/savings.ts'
import { SESSION_ROUTES } from './routes/sessions.ts'
import { mountVendorProxies } from './routes/vendor-proxy.ts'
import { mountUi } from './ui/mount-ui.ts'

/** Every route of the service, in the order of `/openapi.json`. */
const ROUTES: readonly Route[] = [
  ...JOB_ROUTES,
  retrieveRoute,
  ...MCP_ROUTES,
  ...SESSION_ROUTES,
  savingsRoute,
  gainRoute,
  configRoute,
  armsRoute,
  fingerprintsRoute,
  ...FINGERPRINT_TEAM_ROUTES,
  livezRoute,
  readyzRoute,
  metricsRoute,
]

/**
 * The HTTP app. Works without a port too: `createApp(deps).request('/livez')`.
 * @param extra routes beside the usual ones, for benches and tests
 */
export function createApp(deps: AppDeps, extra: readonly Route[] = []): Hono<AppEnv> {
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
  const routes = below === undefined ? [...ROUTES, ...extra] : []
  const methods = new Map<string, string[]>()
  const described = routes.length === 0 ? [] : [openApiRoute(routes)]
  for (const route of [...routes, ...described]) {
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
  const { ui, ledger } = deps
  if (below === undefined && ui !== undefined && ledger !== undefined) {
    mountUi(app, { ...deps, ui, ledger })
  }
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
