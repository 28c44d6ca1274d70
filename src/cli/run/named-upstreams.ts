import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { upstreamFault } from '../../config/url-fault.ts'
import { type DialectName, dialects } from '../../core/dialects/lookup.ts'

export type NamedUpstream = Config['proxy']['upstreams'][number]

/** APIs without a route of their own, whose base URL a variable of the environment has. */
const NAMED_APIS = dialects.flatMap(({ name, client }) =>
  client === undefined ? [] : [{ name, dialect: name as DialectName, ...client }],
)

/**
 * The upstreams of these APIs. What the environment names takes precedence over what is configured,
 * and that over defaults.
 * @throws Error for a base URL that is not a URL
 */
export function namedUpstreams(
  env: Env,
  configured: readonly NamedUpstream[],
): readonly NamedUpstream[] {
  const own = NAMED_APIS.flatMap(({ variable, name, dialect, byDefault, signedWith }) => {
    const given = env[variable] || null
    const fault = given === null ? null : upstreamFault(given)
    if (fault !== null) throw new Error(`${variable} ${fault}`)
    const isConfigured = configured.some(each => each.name === name)
    const url = given ?? (isConfigured ? null : byDefault(env))
    if (url === null) return []
    const aws = signedWith?.(env)
    const signed = aws === undefined ? {} : { aws }
    return [{ name, dialect, url: url.replace(/\/$/, ''), ...signed }]
  })
  return [...configured.filter(({ name }) => !own.some(each => each.name === name)), ...own]
}

/** The variables with the base URLs that the command uses, with a proxy at `url`. */
export function namedBaseUrls(url: string, upstreams: readonly NamedUpstream[]): Env {
  const served = NAMED_APIS.filter(({ name }) => upstreams.some(each => each.name === name))
  return Object.fromEntries(served.map(({ variable, name }) => [variable, `${url}/up/${name}`]))
}
