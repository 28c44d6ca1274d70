import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Authorizer, type AuthorizerOptions } from '../../../src/mcp/auth/authorizer.ts'
import { guardedFetch } from '../../../src/mcp/auth/guarded-fetch.ts'
import { type LoginOptions, login } from '../../../src/mcp/auth/login.ts'
import type { OAuthTerms } from '../../../src/mcp/auth/oauth-terms.ts'
import { ServerGrants } from '../../../src/mcp/auth/server-grants.ts'
import { Vault } from '../../../src/mcp/auth/vault.ts'
import type { ServerTarget } from '../../../src/mcp/upstream/options.ts'
import { AuthorizationServer } from './authorization-server.ts'
import { type ProtectedServer, startProtectedServer } from './protected-server.ts'

export const TERMS: OAuthTerms = { grant: 'authorization_code', clientKeyAlg: 'ES256' }

/** An authorization server, a server that takes its tokens, and what we know of both. */
export interface OAuthScene {
  readonly authority: AuthorizationServer
  readonly server: ProtectedServer
  readonly folder: string
  /** As another process on the same folder has it. */
  grants(tenant?: string): ServerGrants
  login(terms?: Partial<OAuthTerms>, options?: Partial<LoginOptions>): ReturnType<typeof login>
  authorizer(options?: Partial<AuthorizerOptions>): Authorizer
  target(authorizer: Authorizer): ServerTarget
}

export async function oauthScene(): Promise<OAuthScene> {
  const authority = await AuthorizationServer.start()
  const server = await startProtectedServer(authority)
  const folder = mkdtempSync(join(tmpdir(), 'haversack-oauth-'))
  onTestFinished(async () => {
    await Promise.all([authority.close(), server.close()])
    rmSync(folder, { recursive: true })
  })
  const url = new URL(server.url)
  const grants = (tenant = 'local') => {
    const vault = new Vault({ folder, keys: [] })
    onTestFinished(() => vault.close())
    return new ServerGrants(vault, tenant, url)
  }
  return {
    ...{ authority, server, folder, grants },
    login: (terms = {}, options = {}) =>
      login({
        ...{ server: url, terms: { ...TERMS, ...terms }, grants: grants() },
        ...{ fetch: guardedFetch(url), timeoutMs: 600_000, visit: page => void agree(page) },
        ...options,
      }),
    authorizer: (options = {}) =>
      new Authorizer({
        ...{ server: url, terms: TERMS, grants: grants(), fetch: guardedFetch(url) },
        ...options,
      }),
    target: authorizer => ({
      ...{ kind: 'http', url },
      headers: () => authorizer.headers(),
      renewal: {
        renew: (refusal, sent) => authorizer.renew(refusal, sent),
        onChange: handler => authorizer.onChange(handler, 10),
        advice: 'Log in.',
      },
    }),
  }
}

/** A browser whose user agrees to everything. */
export async function agree(page: URL): Promise<void> {
  await (await fetch(page)).text()
}
