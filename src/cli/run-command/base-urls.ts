import type { Env } from '../../config/env.ts'
import { urlFault } from '../../config/url-fault.ts'

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
  const anthropic = baseUrlIn(env, ANTHROPIC_NAMES)
  const openai = baseUrlIn(env, OPENAI_NAMES)
  // Clients put `/chat/completions` after theirs, which may have another version or none.
  const version = openai === null || openai.endsWith(VERSION) ? VERSION : ''
  return {
    upstreams: {
      ...(anthropic === null ? {} : { HAVERSACK_ANTHROPIC_URL: anthropic }),
      ...(openai === null
        ? {}
        : {
            HAVERSACK_OPENAI_URL: openai.slice(0, openai.length - version.length),
            HAVERSACK_OPENAI_PATHS: version === '' ? 'as_sent' : 'versioned',
          }),
    },
    environment: (url, anthropicUrl) => ({
      ...env,
      ...namedBy(ANTHROPIC_NAMES, `${url}/anthropic`),
      ...namedBy(OPENAI_NAMES, `${url}/openai${version}`),
      ...toolSearch(env, anthropicUrl),
      ...reachedDirectly(env, new URL(url).hostname),
    }),
  }
}

const VERSION = '/v1'

/** Those of the vendors' clients, then those of LiteLLM, with which Aider works, and LangChain. */
const ANTHROPIC_NAMES = ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE']
export const OPENAI_NAMES = ['OPENAI_BASE_URL', 'OPENAI_API_BASE']

function namedBy(names: readonly string[], url: string | undefined): Env {
  return Object.fromEntries(names.map(name => [name, url]))
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
  const isVendor = new URL(anthropicUrl).host === 'api.anthropic.com'
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
