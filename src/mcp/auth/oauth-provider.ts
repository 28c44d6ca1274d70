import type {
  AddClientAuthentication,
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { AuthFailure } from './auth-failure.ts'
import type { OAuthTerms } from './oauth-terms.ts'
import { expiryOf, requireBearer, type ServerGrants } from './server-grants.ts'

export interface ProviderOptions {
  readonly terms: OAuthTerms
  readonly grants: ServerGrants
  /** Where the browser comes back to; absent if there is no user. */
  readonly redirectUrl?: string
  /** Ties the browser's return to this flow. */
  readonly state?: string
  readonly addClientAuthentication?: AddClientAuthentication
  now(): number
}

/** One flow of authorization, as the SDK asks for its parts. */
export class OAuthProvider implements OAuthClientProvider {
  /** Where the user has to go, once the flow has come so far. */
  authorizationUrl: URL | null = null
  readonly redirectUrl: string | undefined
  readonly clientMetadataUrl?: string
  readonly addClientAuthentication?: AddClientAuthentication
  readonly #options: ProviderOptions
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined
  #resource: string | null = null
  #registered: StoredOAuthClientInformation | undefined

  constructor(options: ProviderOptions) {
    this.#options = options
    const { terms, redirectUrl, addClientAuthentication } = options
    this.redirectUrl = redirectUrl
    if (terms.clientMetadataUrl !== undefined) this.clientMetadataUrl = terms.clientMetadataUrl
    if (addClientAuthentication !== undefined) {
      this.addClientAuthentication = addClientAuthentication
    }
  }

  get clientMetadata(): OAuthClientMetadata {
    const { terms } = this.#options
    const isInteractive = this.redirectUrl !== undefined
    return {
      client_name: 'Haversack',
      redirect_uris: isInteractive ? [this.redirectUrl as string] : [],
      grant_types: isInteractive ? ['authorization_code', 'refresh_token'] : ['client_credentials'],
      response_types: isInteractive ? ['code'] : [],
      ...(terms.scope === undefined ? {} : { scope: terms.scope }),
    }
  }

  state(): string {
    return this.#options.state ?? ''
  }

  /** @throws AuthFailure if the authorization server is another one than it may be */
  clientInformation(
    context?: OAuthClientInformationContext,
  ): StoredOAuthClientInformation | undefined {
    const { terms, grants } = this.#options
    const issuer = context?.issuer
    if (issuer === undefined) throw new AuthFailure('no authorization server')
    if (terms.issuer !== undefined && terms.issuer !== issuer) {
      throw new AuthFailure('another authorization server than the configured one')
    }
    const { clientId, clientSecret } = terms
    if (clientId !== undefined) {
      if (grants.homeOf(clientId, issuer) !== issuer) {
        throw new AuthFailure('another authorization server than the client was used at before')
      }
      const secret = clientSecret === undefined ? {} : { client_secret: clientSecret() }
      return { client_id: clientId, ...secret, issuer }
    }
    this.#registered ??= grants.registration(issuer) ?? undefined
    if (this.#registered?.issuer !== issuer || !this.#isForUs(this.#registered)) return undefined
    return this.#registered
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#registered = client
    this.#options.grants.saveRegistration(client.issuer as string, client)
  }

  /** Never any: what is kept is renewed elsewhere, by one process at a time. */
  tokens(): undefined {
    return undefined
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    const { grants, terms, now } = this.#options
    requireBearer(tokens)
    const issuer = tokens.issuer as string
    const client = this.clientInformation({ issuer }) as StoredOAuthClientInformation
    // A configured secret stays in the configuration.
    const kept = terms.clientId === undefined ? client : { client_id: client.client_id, issuer }
    const obtainedAt = now()
    const expiresAt = expiryOf(tokens, obtainedAt)
    grants.save({ issuer, resource: this.#resource, client: kept, tokens, obtainedAt, expiresAt })
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  /**
   * Called before anything is sent to the authorization server.
   * @throws AuthFailure if it does not describe itself, or does not state that it checks PKCE
   */
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    const { authorizationServerMetadata: metadata } = state
    if (metadata === undefined) throw new AuthFailure('the authorization server has no metadata')
    const checksPkce = metadata.code_challenge_methods_supported?.includes('S256') === true
    if (this.redirectUrl !== undefined && !checksPkce) {
      throw new AuthFailure('the authorization server lacks what is needed: PKCE')
    }
    this.#discovery = state
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource
  }

  invalidateCredentials(scope: string): void {
    const issuer = this.#registered?.issuer
    if (scope !== 'client' || issuer === undefined) return
    this.#registered = undefined
    this.#options.grants.saveRegistration(issuer, null)
  }

  prepareTokenRequest(scope?: string): URLSearchParams | undefined {
    if (this.redirectUrl !== undefined) return undefined
    const params = new URLSearchParams({ grant_type: 'client_credentials' })
    if (scope !== undefined) params.set('scope', scope)
    return params
  }

  /** A registration states where the browser returns; a document that describes us does not. */
  #isForUs(client: StoredOAuthClientInformation): boolean {
    const { redirect_uris: uris } = client as { redirect_uris?: readonly string[] }
    if (client.client_id === this.clientMetadataUrl) return true
    if (uris === undefined) return false
    return this.redirectUrl !== undefined && uris.includes(this.redirectUrl)
  }
}
