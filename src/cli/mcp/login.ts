import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { LOCAL } from '../../access/access.ts'
import type { Config } from '../../config/config.ts'
import { UsageError } from '../../console/command.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { loginTo, logoutFrom, type OAuthServer } from '../../service/mcp/authorization.ts'
import { loadMcpConfig } from './load-config.ts'
import type { McpValues } from './options.ts'

/** How long the user has, in milliseconds. */
const TIMEOUT_MS = 10 * 60_000

/** Gets a token for a server, with the consent of the user in a browser. */
export async function loginMcp(values: McpValues, [name = '']: readonly string[]): Promise<number> {
  const { config, env } = loadMcpConfig(values)
  const server = oauthServer(config, name)
  const tenant = values.tenant ?? LOCAL.tenant
  const lines = createInterface({ input: process.stdin })
  try {
    const { issuer, scope } = await loginTo(server, config, {
      env,
      tenant,
      timeoutMs: TIMEOUT_MS,
      visit(url, { take }) {
        process.stderr.write('Open this URL in a browser:\n')
        process.stdout.write(`${url}\n`)
        if (values['no-browser']) lines.on('line', line => void take(line))
        else openBrowser(url)
      },
    })
    const scopes = scope === null ? '' : ` with the scopes ${scope}`
    process.stderr.write(`Logged in to ${name} at ${issuer}${scopes}.\n`)
    return EXIT.ok
  } finally {
    lines.close()
    process.stdin.destroy()
  }
}

/** What opens a URL, by platform. No shell reads it. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

function openBrowser(url: URL): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command as string, [...args, url.href], { stdio: 'ignore', detached: true })
  // Without one the user opens the URL that was printed.
  child.on('error', () => {})
  child.unref()
}

/** Forgets the token for a server. */
export function logoutMcp(values: McpValues, [name = '']: readonly string[]): number {
  const { config } = loadMcpConfig(values)
  const server = oauthServer(config, name)
  const tenant = values.tenant ?? LOCAL.tenant
  const had = logoutFrom(server, config, tenant)
  process.stderr.write(had ? `Forgot the token for ${name}.\n` : `There was none for ${name}.\n`)
  return EXIT.ok
}

/** A configured server that we get tokens for. @throws UsageError if it is none */
function oauthServer({ mcp }: Config, name: string): OAuthServer {
  const config = Object.hasOwn(mcp.servers, name) ? mcp.servers[name] : undefined
  if (config === undefined) throw new UsageError(`no server ${name} in [mcp.servers]`)
  const { auth, url } = config
  if (auth.kind !== 'oauth' || url === undefined) {
    throw new UsageError(`mcp.servers.${name} does not have auth = { kind = "oauth" }`)
  }
  return { url: new URL(url), auth }
}
