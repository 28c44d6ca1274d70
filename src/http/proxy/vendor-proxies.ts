import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { type Upstream, upstreamsOf } from '../../config/upstreams.ts'
import { upstreamForgets } from '../../core/dialects/forgetting/vendor-forgetting.ts'
import { dialectNamed, type VendorName } from '../../core/dialects/lookup.ts'
import { createAwsSigner, type SignRequest } from '../../proxy/aws-signature.ts'
import { createForwarder, type Forwarder } from '../../proxy/forwarder.ts'
import { pathAfter, versionedPath } from '../../proxy/target.ts'
import type { ForwardLimits, ProxyEnvironment } from '../../proxy/upstream.ts'

/** A vendor's API that the service forwards to. */
export interface VendorProxy {
  readonly vendor: VendorName
  /** Where requests go, with the port if it is not the usual one. */
  readonly host: string
  /** The prefix of every path of the vendor's API. */
  readonly prefix: string
  /** The prefix as a route, which does not reveal a path that is a secret. */
  readonly pattern: string
  /** The prefix of every path at the upstream, without a slash at its end. */
  readonly basePath: string
  /** The path at the upstream after `basePath` for one that a client sent. */
  pathAtVendor(path: string): string
  readonly forwarder: Forwarder
  /** Whether it may drop parts of a prompt by itself. */
  readonly forgets: boolean
  /**
   * Whether its last answer said that it is a service of ours, which then counts requests; and
   * whether it is believed. A vendor at `https:` is not: it would lower what we count.
   */
  readonly upstream: { isOurs: boolean; readonly isBelieved: boolean }
  /** Signs requests that came signed; absent: the service has no credentials for it. */
  readonly sign?: SignRequest
}

export interface VendorProxyOptions {
  /** Comes before the prefixes: nothing, or one secret segment that only permitted clients know. */
  readonly below?: string | undefined
  readonly limits: ForwardLimits
  /** Where the proxy before `https:` upstreams is named. */
  readonly env: ProxyEnvironment
  /** Reads a secret, or what it names. @throws Error if that is not there */
  secret(text: string): () => string
  /** Gets a bug that ended an exchange. */
  readonly onBug: (error: unknown) => void
}

/** The variables of a proxy by their usual spellings; those in capitals take precedence. */
export function proxyEnvironment(env: Env): ProxyEnvironment {
  const httpsProxy = env['HTTPS_PROXY'] || env['https_proxy']
  const noProxy = env['NO_PROXY'] || env['no_proxy']
  return { ...(httpsProxy && { HTTPS_PROXY: httpsProxy }), ...(noProxy && { NO_PROXY: noProxy }) }
}

/** One for each vendor whose upstream is configured. */
export function createVendorProxies(
  settings: Config['proxy'],
  { below = '', limits, env, secret: read, onBug }: VendorProxyOptions,
): readonly VendorProxy[] {
  const secret = below === '' ? '' : '/:secret'
  const signer = (service: string, aws: AwsTerms): SignRequest =>
    createAwsSigner(
      {
        service,
        region: aws.region,
        accessKeyId: read(aws.access_key_id),
        secretAccessKey: read(aws.secret_access_key),
        sessionToken: aws.session_token === undefined ? () => undefined : read(aws.session_token),
      },
      Date.now,
    )
  const proxyOf = ({ place, url, dialect: spoken, aws, name, forgets }: Upstream): VendorProxy => {
    const base = new URL(url)
    const dialect = dialectNamed(spoken)
    const vendor = dialect.vendor.name as VendorName
    const basePath = base.pathname.replace(/\/$/, '')
    const pathsAsSent = settings.openai_paths === 'as_sent'
    return {
      vendor,
      host: base.host,
      prefix: below + place,
      pattern: secret + place,
      basePath,
      pathAtVendor: path => versionedPath({ dialect, basePath, pathsAsSent }, path),
      forwarder: createForwarder({ base, vendor, limits, env, onBug }),
      forgets: forgets ?? upstreamForgets(url, name),
      upstream: { isOurs: false, isBelieved: base.protocol === 'http:' },
      ...(aws && dialect.awsService && { sign: signer(dialect.awsService, aws) }),
    }
  }
  return upstreamsOf(settings).map(proxyOf)
}

type AwsTerms = NonNullable<Upstream['aws']>

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
