import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import type { OAuthConfig } from '../../config/mcp-auth.ts'
import { Authorizer } from '../../mcp/auth/authorizer.ts'
import { guardedFetch } from '../../mcp/auth/guarded-fetch.ts'
import { type LoginOptions, login } from '../../mcp/auth/login.ts'
import type { OAuthTerms } from '../../mcp/auth/oauth-terms.ts'
import { secretReader } from '../../mcp/auth/secret-text.ts'
import { ServerGrants } from '../../mcp/auth/server-grants.ts'
import { Vault } from '../../mcp/auth/vault.ts'
import type { HeaderRenewal } from '../../mcp/upstream/options.ts'
import type { Logger } from '../../observability/logger.ts'

/** How often a connection without a token looks for one, in milliseconds. */
const LOOK_MS = 1000

/** The vault of a data folder. @throws if the folder cannot be written */
export function openVault({ data_dir, store }: Pick<Config, 'data_dir' | 'store'>): Vault {
  return new Vault({ folder: data_dir, keys: store.encryption_keys })
}

/** @throws Error for a secret that is not there */
function oauthTerms(config: OAuthConfig, env: Env): OAuthTerms {
  const { grant, client_id, client_secret, client_key, scopes, issuer } = config
  const read = (text: string | undefined) =>
    text === undefined ? undefined : secretReader(text, env)
  return {
    grant,
    clientId: client_id,
    clientSecret: read(client_secret),
    clientKey: read(client_key),
    clientKeyAlg: config.client_key_alg,
    clientMetadataUrl: config.client_metadata_url,
    scope: scopes.length === 0 ? undefined : scopes.join(' '),
    issuer,
  }
}

/** Headers with a token of ours, and what renews them. */
export interface OAuthHeaders {
  headers(): Promise<Record<string, string>>
  readonly renewal: HeaderRenewal
}

interface OAuthNeeds {
  readonly env: Env
  readonly logger: Logger
  readonly vault: Vault
  readonly tenant: string
}

/** @throws Error for a secret that is not there */
export function oauthHeaders(
  name: string,
  server: URL,
  config: OAuthConfig,
  { env, logger, vault, tenant }: OAuthNeeds,
): OAuthHeaders {
  const authorizer = new Authorizer({
    server,
    terms: oauthTerms(config, env),
    grants: new ServerGrants(vault, tenant, server),
    fetch: guardedFetch(server),
    log: (event, fields) => logger.info({ server: name, ...fields }, `server ${event}`),
  })
  const advice =
    config.grant === 'client_credentials'
      ? 'The authorization server gave no token that it accepts.'
      : `Run: haversack mcp login ${name}`
  return {
    headers: () => authorizer.headers(),
    renewal: {
      renew: (refusal, sent) => authorizer.renew(refusal, sent).catch(() => false),
      onChange: handler => authorizer.onChange(handler, LOOK_MS),
      advice,
    },
  }
}

/** A configured server that we get tokens for. */
export interface OAuthServer {
  readonly url: URL
  readonly auth: OAuthConfig
}

interface LoginRun extends Pick<LoginOptions, 'timeoutMs' | 'visit'> {
  readonly env: Env
  readonly tenant: string
}

/**
 * Gets a token with the consent of a user, and keeps it in the data folder.
 * @throws AuthFailure, and Error for a secret that is not there
 */
export async function loginTo(
  { url, auth }: OAuthServer,
  config: Pick<Config, 'data_dir' | 'store'>,
  { env, tenant, ...run }: LoginRun,
): ReturnType<typeof login> {
  if (auth.grant === 'client_credentials') {
    throw new Error('a server with grant = "client_credentials" needs no login')
  }
  const vault = openVault(config)
  try {
    return await login({
      ...run,
      server: url,
      terms: oauthTerms(auth, env),
      grants: new ServerGrants(vault, tenant, url),
      fetch: guardedFetch(url),
      port: auth.callback_port,
    })
  } finally {
    vault.close()
  }
}

/** @returns whether there was a token */
export function logoutFrom(
  { url, auth }: OAuthServer,
  config: Pick<Config, 'data_dir' | 'store'>,
  tenant: string,
): boolean {
  const vault = openVault(config)
  try {
    return new ServerGrants(vault, tenant, url).forget(auth.client_id)
  } finally {
    vault.close()
  }
}
