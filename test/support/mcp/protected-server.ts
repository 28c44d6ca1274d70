import type { AuthorizationServer } from './authorization-server.ts'
import {
  type HttpUpstream,
  json,
  modernServer,
  result,
  startHttpUpstream,
} from './http-upstream.ts'

/** An MCP server that wants a token of an authorization server. */
export interface ProtectedServer extends HttpUpstream {
  /** What its metadata and its refusals say; may be changed. */
  readonly says: {
    resource: string | null
    authorizationServers: string[]
    scopesSupported: string[] | undefined
    /** Added to `WWW-Authenticate`. */
    challenge: string
    /** The scope that calls need beside a good token. */
    callScope: string | null
    /** The tools that it lists. */
    tools: string
  }
}

/** @param authority whose tokens it takes */
export async function startProtectedServer(
  authority: AuthorizationServer,
): Promise<ProtectedServer> {
  const says: ProtectedServer['says'] = {
    resource: null,
    authorizationServers: [authority.issuer],
    scopesSupported: undefined,
    challenge: '',
    callScope: null,
    tools: '[]',
  }
  const mcp = modernServer((response, { id, rpcMethod }) => {
    const text = '{"content":[{"type":"text","text":"done"}]}'
    json(response, result(id, rpcMethod === 'tools/list' ? `{"tools":${says.tools}}` : text))
  }, '{"tools":{}}')
  const upstream = await startHttpUpstream((response, arrived) => {
    if (arrived.path.startsWith('/.well-known/oauth-protected-resource')) {
      const { resource, authorizationServers, scopesSupported } = says
      const metadata = {
        resource: resource ?? upstream.url,
        authorization_servers: authorizationServers,
        scopes_supported: scopesSupported,
      }
      return json(response, JSON.stringify(metadata))
    }
    const token = /^Bearer (.+)$/.exec(arrived.headers.authorization ?? '')?.[1] ?? ''
    const scope = authority.valid.get(token)
    if (scope === undefined) {
      const authenticate = `Bearer realm="test"${says.challenge}`
      return json(response, '{}', 401, { 'www-authenticate': authenticate })
    }
    const needed = arrived.rpcMethod === 'tools/call' ? says.callScope : null
    if (needed !== null && !scope.split(' ').includes(needed)) {
      const authenticate = `Bearer error="insufficient_scope", scope="${needed}"`
      return json(response, '{}', 403, { 'www-authenticate': authenticate })
    }
    return mcp(response, arrived)
  })
  return { ...upstream, says }
}
