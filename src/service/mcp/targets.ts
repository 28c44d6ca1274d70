import type { Env } from '../../config/env.ts'
import type { McpServerConfig } from '../../config/mcp.ts'
import { secretReader } from '../../mcp/auth/secret-text.ts'
import type { Vault } from '../../mcp/auth/vault.ts'
import { type ForwardedHeaders, pickForwarded } from '../../mcp/client/forwarded-headers.ts'
import type { ServerTarget } from '../../mcp/upstream/options.ts'
import type { Logger } from '../../observability/logger.ts'
import { oauthHeaders } from './authorization.ts'

export interface TargetNeeds {
  readonly env: Env
  readonly logger: Logger
  /** `null` if no server needs one. */
  readonly vault: Vault | null
  readonly tenant: string
  /** Headers of the client that connects; `null` if it has none, as over stdio. */
  readonly forwarded: ForwardedHeaders | null
}

/**
 * Where a configured server is, and how we authorize ourselves there.
 * @throws Error for a secret that is not there
 */
export function targetOf(name: string, config: McpServerConfig, needs: TargetNeeds): ServerTarget {
  const { command, args, cwd = null, auth } = config
  const { env, vault } = needs
  if (command !== undefined) {
    const own = secrets(config.env, env)()
    return { kind: 'stdio', command, args, env: own, cwd, processEnvironment: env }
  }
  const url = new URL(config.url as string)
  if (auth.kind === 'oauth' && vault !== null) {
    return { kind: 'http', url, ...oauthHeaders(name, url, auth, { ...needs, vault }) }
  }
  if (auth.kind === 'forward') {
    if (needs.forwarded === null) {
      throw new Error(`mcp.servers.${name}: auth forward is for clients over HTTP`)
    }
    const picked = pickForwarded(auth.headers, needs.forwarded)
    return { kind: 'http', url, headers: () => picked }
  }
  const headers = secrets(auth.kind === 'headers' ? auth.headers : {}, env)
  return { kind: 'http', url, headers }
}

/** @throws Error for a secret that is not there */
function secrets(
  values: Readonly<Record<string, string>>,
  env: Env,
): () => Readonly<Record<string, string>> {
  const readers = Object.entries(values).map(
    ([key, text]) => [key, secretReader(text, env)] as const,
  )
  return () => Object.fromEntries(readers.map(([key, read]) => [key, read()]))
}
