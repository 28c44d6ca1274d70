import { LOCAL } from '../../access/access.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { logoutFrom } from '../../service/mcp/authorization.ts'
import { loadMcpConfig } from './load-config.ts'
import { oauthServer } from './oauth-server.ts'
import type { McpValues } from './options.ts'

/** Forgets the token for a server. */
export function logoutMcp(values: McpValues, [name = '']: readonly string[]): number {
  const { config } = loadMcpConfig(values)
  const server = oauthServer(config, name)
  const tenant = values.tenant ?? LOCAL.tenant
  const had = logoutFrom(server, config, tenant)
  process.stderr.write(had ? `Forgot the token for ${name}.\n` : `There was none for ${name}.\n`)
  return EXIT.ok
}
