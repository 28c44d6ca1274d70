/** Where Redis is, and as whom to log in. */
export interface RedisAddress {
  readonly kind: 'standalone' | 'sentinel' | 'cluster'
  /** The server, or the Sentinels, or some nodes of the cluster; at least one. */
  readonly nodes: readonly RedisNode[]
  /** The name by which the Sentinels know the primary. */
  readonly primaryName?: string
  readonly username?: string
  readonly password?: string
  readonly isTls: boolean
  readonly database: number
}

export interface RedisNode {
  readonly host: string
  readonly port: number
}

const SCHEME = /^redis(s?)(?:\+(sentinel|cluster))?:\/\//
const NODE = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i
const DEFAULT_PORT = { standalone: 6379, sentinel: 26_379, cluster: 6379 } as const

/**
 * Parses `redis://[user[:password]@]host[:port][/database]`, `redis+sentinel://…@host,host/name`
 * and `redis+cluster://…@host,host`; `rediss` for TLS.
 * @returns what is wrong instead, without the text, which may hold a password
 */
export function parseRedisUrl(url: string): RedisAddress | { readonly fault: string } {
  const scheme = SCHEME.exec(url)
  if (scheme === null) {
    return { fault: 'must begin with redis://, rediss://, redis+sentinel:// or redis+cluster://' }
  }
  const kind = (scheme[2] ?? 'standalone') as RedisAddress['kind']
  const rest = url.slice(scheme[0].length)
  const at = rest.lastIndexOf('@')
  const login = parseLogin(rest.slice(0, Math.max(at, 0)))
  const [hosts = '', path = ''] = rest.slice(at + 1).split('/', 2)
  const nodes = hosts.split(',').map(each => parseNode(each, DEFAULT_PORT[kind]))
  if (login === null) return { fault: 'has a user or a password that is not percent-encoded' }
  if (!nodes.every(node => node !== null)) return { fault: 'names no host and port' }
  if (kind === 'standalone' && nodes.length > 1) {
    return { fault: 'names several hosts; use redis+sentinel:// or redis+cluster://' }
  }
  if (kind === 'sentinel' && path === '') {
    return { fault: 'must end with the name of the primary, as in redis+sentinel://host/mymaster' }
  }
  const primaryName = decoded(path)
  if (primaryName === null) return { fault: 'has a name that is not percent-encoded' }
  const database = kind === 'standalone' && path !== '' ? Number(path) : 0
  if (!Number.isInteger(database) || database < 0)
    return { fault: 'has a database that is no number' }
  return {
    kind,
    nodes,
    ...(kind === 'sentinel' ? { primaryName } : {}),
    ...login,
    isTls: scheme[1] === 's',
    database,
  }
}

function parseNode(text: string, defaultPort: number): RedisNode | null {
  const found = NODE.exec(text)
  if (found === null) return null
  const port = found[2] === undefined ? defaultPort : Number(found[2])
  return port > 65_535 ? null : { host: found[1]!.replace(/^\[|\]$/g, ''), port }
}

/** `null` for text that is not percent-encoded. */
function parseLogin(text: string): Pick<RedisAddress, 'username' | 'password'> | null {
  if (text === '') return {}
  const colon = text.indexOf(':')
  const username = decoded(colon < 0 ? text : text.slice(0, colon))
  const password = decoded(colon < 0 ? '' : text.slice(colon + 1))
  if (username === null || password === null) return null
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) }
}

/** `null` for text that is not percent-encoded. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
