import type { Config } from '../../config/config.ts'
import { UsageError } from '../../console/command.ts'
import type { OAuthServer } from '../../service/mcp/authorization.ts'

/** A configured server that we get tokens for. @throws UsageError if it is none */
export function oauthServer({ mcp }: Config, name: string): OAuthServer {
  const config = Object.hasOwn(mcp.servers, name) ? mcp.servers[name] : undefined
  if (config === undefined) throw new UsageError(`no server ${name} in [mcp.servers]`)
  const { auth, url } = config
  if (auth.kind !== 'oauth' || url === undefined) {
    throw new UsageError(`mcp.servers.${name} does not have auth = { kind = "oauth" }`)
  }
  return { url: new URL(url), auth }
}
