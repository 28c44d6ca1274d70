import type { Config } from '../../config/config.ts'
import { createForwarder, type Forwarder } from '../../proxy/forwarder.ts'
import { pathAfter, versionedPath } from '../../proxy/target.ts'
import type { Vendor } from '../../proxy/vendor-errors.ts'

/** A vendor's API that the service forwards to. */
export interface VendorProxy {
  readonly vendor: Vendor
  /** The prefix of every path of the vendor's API. */
  readonly prefix: `${string}/${Vendor}`
  /** The prefix as a route, which does not reveal a path that is a secret. */
  readonly pattern: string
  /** The prefix of every path at the upstream, without a slash at its end. */
  readonly basePath: string
  /** The path at the upstream after `basePath` for one that a client sent. */
  pathAtVendor(path: string): string
  readonly forwarder: Forwarder
}

export interface VendorProxyOptions {
  /** Comes before the prefixes: nothing, or one secret segment that only permitted clients know. */
  readonly below?: string | undefined
  /** Gets a bug that ended an exchange. */
  readonly onBug: (error: unknown) => void
}

/** One for each vendor whose upstream is configured. */
export function createVendorProxies(
  settings: Config['proxy'],
  { below = '', onBug }: VendorProxyOptions,
): readonly VendorProxy[] {
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
  const proxiesOf = (vendor: Vendor, url: string | undefined): VendorProxy[] => {
    if (url === undefined) return []
    const base = new URL(url)
    const forwarder = createForwarder({ base, vendor, limits, env, onBug })
    const pattern = `${below === '' ? '' : '/:secret'}/${vendor}`
    const basePath = base.pathname.replace(/\/$/, '')
    const openaiPathsAsSent = settings.openai_paths === 'as_sent'
    const pathAtVendor = (path: string) =>
      versionedPath({ vendor, basePath, openaiPathsAsSent }, path)
    const prefix = `${below}/${vendor}` as const
    return [{ vendor, prefix, pattern, basePath, pathAtVendor, forwarder }]
  }
  return [...proxiesOf('anthropic', anthropic_url), ...proxiesOf('openai', openai_url)]
}

/**
 * The one that a request target is for, and the target at its vendor, after the path of the base
 * URL.
 */
export function vendorProxyFor(
  vendorProxies: readonly VendorProxy[],
  target: string | undefined,
): { readonly proxy: VendorProxy; readonly path: string } | null {
  for (const proxy of vendorProxies) {
    const path = pathAfter(target ?? '', proxy.prefix)
    if (path !== null) return { proxy, path: proxy.pathAtVendor(path) }
  }
  return null
}
