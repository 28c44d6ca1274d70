import type { Env } from '../../config/env.ts'
import { urlFault } from '../../config/url-fault.ts'
import { anthropic } from '../../core/dialects/anthropic.ts'
import type { OwnRoute } from '../../core/dialects/dialect.ts'
import { OWN_DIALECTS } from '../../core/dialects/lookup.ts'

/** The upstreams of a command, and its environment for the proxy. */
export interface BaseUrls {
  /**
   * Upstreams that the command's own environment names, by the variables of the configuration; `{}`
   * if it names none.
   */
  readonly upstreams: Env
  /** The environment for the command, with a proxy at `url` that forwards to `anthropicUrl`. */
  environment(url: string, anthropicUrl: string): Env
}

/** Variables with hosts that are reached directly, and those that make such hosts matter. */
const DIRECT_HOSTS = ['NO_PROXY', 'no_proxy'] as const
const WEB_PROXY = /^(?:https?|all)_proxy$/i

/**
 * Puts a proxy between a command and its base URLs, which become the upstreams. @throws Error for a
 * base URL that is not a URL
 */
export function baseUrls(env: Env): BaseUrls {
  const found = OWN_DIALECTS.map(({ name, own }) => {
    const { version = '', variables } = own
    const url = baseUrlIn(env, variables)
    // Clients put `/chat/completions` after theirs, which may have another version or none.
    const end = url === null || url.endsWith(version) ? version : ''
    return { name, own, url, end }
  })
  return {
    upstreams: Object.fromEntries(found.flatMap(upstreamIn)),
    environment: (url, anthropicUrl) => ({
      ...env,
      ...Object.fromEntries(
        found.flatMap(({ name, own, end }) =>
          own.variables.map(variable => [variable, `${url}/${name}${end}`]),
        ),
      ),
      ...toolSearch(env, anthropicUrl),
      ...reachedDirectly(env, new URL(url).hostname),
    }),
  }
}

interface FoundUrl {
  readonly name: string
  readonly own: OwnRoute
  readonly url: string | null
  /** The version at its end. */
  readonly end: string
}

/** By the variables of the configuration. */
function upstreamIn({ name, own, url, end }: FoundUrl): readonly (readonly [string, string])[] {
  if (url === null) return []
  const prefix = `HAVERSACK_${name.toUpperCase()}`
  const base = [`${prefix}_URL`, url.slice(0, url.length - end.length)] as const
  if (own.version === undefined) return [base]
  return [base, [`${prefix}_PATHS`, end === '' ? 'as_sent' : 'versioned']]
}

/** The first that is set, without the slash at its end; `null` if none is. */
function baseUrlIn(env: Env, names: readonly string[]): string | null {
  const name = names.find(each => env[each])
  const value = name === undefined ? undefined : env[name]
  if (value === undefined) return null
  const fault = urlFault(value)
  if (fault === null) return value.replace(/\/$/, '')
  throw new Error(`${name} ${fault}`)
}

/**
 * If its base URL is not the vendor's own, Claude Code loads the definitions of all tools at once,
 * because a gateway might not pass on what its tool search needs. This proxy passes it on, so tool
 * search stays as it is without us.
 */
function toolSearch({ ENABLE_TOOL_SEARCH: chosen = '' }: Env, anthropicUrl: string): Env {
  const isVendor = new URL(anthropicUrl).host === anthropic.host
  return isVendor && chosen === '' ? { ENABLE_TOOL_SEARCH: 'true' } : {}
}

/** A web proxy that the environment names must not be asked for the service on this machine. */
function reachedDirectly(env: Env, host: string): Env {
  const isProxied = Object.entries(env).some(([name, value]) => value && WEB_PROXY.test(name))
  if (!isProxied) return {}
  const known = DIRECT_HOSTS.map(name => env[name]).find(Boolean)
  return Object.fromEntries(
    DIRECT_HOSTS.map(name => [name, [env[name] || known, host].filter(Boolean).join(',')]),
  )
}
