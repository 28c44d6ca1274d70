import { LOCAL } from '../../access/access.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { logoutFrom } from '../../service/mcp-authorization.ts'
import type { ValuesOf } from '../command.ts'
import type { loginOptions } from './login.ts'
import { oauthServer } from './oauth-server.ts'
import { loadMcpConfig, type mcpOptions } from './options.ts'

/** Forgets the token for a server. */
export function logoutMcp(
  values: ValuesOf<typeof mcpOptions & typeof loginOptions>,
  [name = '']: readonly string[],
): number {
  const { config } = loadMcpConfig(values)
  const server = oauthServer(config, name)
  const tenant = values.tenant ?? LOCAL.tenant
  const had = logoutFrom(server, config, tenant)
  process.stderr.write(had ? `Forgot the token for ${name}.\n` : `There was none for ${name}.\n`)
  return EXIT.ok
}
