import type { Hono } from 'hono'
import { createBaseApp } from './base-app.ts'
import type { AppDeps, AppEnv } from './context.ts'
import { armsRoute } from './routes/arms.ts'
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
  if (deps.proxiesBelow !== undefined) return createBaseApp(deps)
  const routes = [...ROUTES, ...extra]
  const { ui, ledger } = deps
  return createBaseApp(deps, {
    routes: [...routes, openApiRoute(routes)],
    mountUi(app) {
      if (ui !== undefined && ledger !== undefined) mountUi(app, { ...deps, ui, ledger })
    },
  })
}
