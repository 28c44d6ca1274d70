import type { Config } from '../config/config.ts'
import { createForwarder, type Forwarder } from '../proxy/forwarder.ts'
import { pathBehind } from '../proxy/target.ts'
import type { Vendor } from '../proxy/vendor-errors.ts'

/** A vendor's API that the service stands in for. */
export interface DropIn {
  readonly vendor: Vendor
  /** Stands before every path of the vendor's. */
  readonly prefix: `${string}/${Vendor}`
  /** The prefix as a route, which does not tell a path that is a secret. */
  readonly pattern: string
  /** What stands before every path at the upstream; no slash at its end. */
  readonly basePath: string
  readonly forwarder: Forwarder
}

/**
 * One for each vendor whose upstream is configured.
 * @param below what stands before the prefixes: nothing, or one segment that only those know who may use the proxies
 */
export function createDropIns(settings: Config['proxy'], below = ''): readonly DropIn[] {
  const { anthropic_url, openai_url, https_proxy, no_proxy } = settings
  const limits = {
    connect_ms: settings.connect_timeout_ms,
    headers_ms: settings.headers_timeout_ms,
    idle_ms: settings.idle_timeout_ms,
    total_ms: settings.total_timeout_ms,
  }
  const env = {
    ...(https_proxy === undefined ? {} : { HTTPS_PROXY: https_proxy }),
    ...(no_proxy === undefined ? {} : { NO_PROXY: no_proxy }),
  }
  const dropIn = (vendor: Vendor, url: string | undefined): DropIn[] => {
    if (url === undefined) return []
    const base = new URL(url)
    const forwarder = createForwarder({ base, vendor, limits, env })
    const pattern = `${below === '' ? '' : '/:secret'}/${vendor}`
    const basePath = base.pathname.replace(/\/$/, '')
    return [{ vendor, prefix: `${below}/${vendor}`, pattern, basePath, forwarder }]
  }
  return [...dropIn('anthropic', anthropic_url), ...dropIn('openai', openai_url)]
}

/** The one that a request target is for, and the target behind its prefix as it was sent. */
export function dropInFor(
  dropIns: readonly DropIn[],
  target: string | undefined,
): { readonly dropIn: DropIn; readonly path: string } | null {
  for (const dropIn of dropIns) {
    const path = pathBehind(target ?? '', dropIn.prefix)
    if (path !== null) return { dropIn, path }
  }
  return null
}
