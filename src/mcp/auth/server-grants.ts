import type {
  OAuthTokens,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { AuthFailure } from './auth-failure.ts'
import type { GrantKey, Vault } from './vault.ts'

/** What an authorization server gave us for one server. */
export interface Grant {
  readonly issuer: string
  /** As the server names itself (RFC 8707); `null` if it does not. */
  readonly resource: string | null
  readonly client: StoredOAuthClientInformation
  readonly tokens: StoredOAuthTokens
  /** Milliseconds since 1970. */
  readonly obtainedAt: number
  /** `null` if nothing says when. */
  readonly expiresAt: number | null
}

/** What is known of a server, beside its grant. */
export interface ServerState {
  /** Which grant is in use. */
  readonly issuer?: string
  readonly resource?: string | null
  /** Scopes that the server asked for in vain. */
  readonly wantedScope?: string
  /** Where the user's browser came back to; part of what was registered. */
  readonly port?: number
}

/** What the vault has for one server and tenant. */
export class ServerGrants {
  readonly #vault: Vault
  readonly #tenant: string
  readonly #server: string
  #cached: { version: string; grant: Grant | null } | undefined

  constructor(vault: Vault, tenant: string, server: URL) {
    this.#vault = vault
    this.#tenant = tenant
    this.#server = server.href
  }

  state(): ServerState {
    return (this.#vault.read(this.#statePlace()) ?? {}) as ServerState
  }

  remember(state: ServerState): void {
    this.#vault.write(this.#statePlace(), { ...this.state(), ...state })
  }

  /** The grant in use. */
  grant(): Grant | null {
    const version = this.#vault.version()
    if (this.#cached?.version === version) return this.#cached.grant
    const { issuer, resource = null } = this.state()
    const place = issuer === undefined ? null : this.#grantPlace(issuer, resource)
    const grant = place === null ? null : (this.#vault.read(place) as Grant | null)
    this.#cached = { version, grant }
    return grant
  }

  /** Keeps a grant, which is in use from now on. */
  save(grant: Grant): void {
    const { issuer, resource } = grant
    this.#vault.write(this.#grantPlace(issuer, resource), grant)
    const { wantedScope: _, ...state } = this.state()
    this.#vault.write(this.#statePlace(), { ...state, issuer, resource })
  }

  /** The client that an authorization server knows us as. */
  registration(issuer: string): StoredOAuthClientInformation | null {
    const place = this.#clientPlace(issuer)
    return this.#vault.read(place) as StoredOAuthClientInformation | null
  }

  saveRegistration(issuer: string, client: StoredOAuthClientInformation | null): void {
    if (client === null) this.#vault.remove(this.#clientPlace(issuer))
    else this.#vault.write(this.#clientPlace(issuer), client)
  }

  /**
   * The authorization server that a configured client belongs to: the first one that it was used
   * at, so that no server can make us send the client's secret to another one.
   */
  homeOf(clientId: string, issuer: string): string {
    const place: GrantKey = ['home', this.#tenant, this.#server, clientId]
    const known = this.#vault.read(place) as { issuer: string } | null
    if (known !== null) return known.issuer
    this.#vault.write(place, { issuer })
    return issuer
  }

  /** @param clientId the configured client, if there is one */
  forget(clientId: string | undefined): boolean {
    const { issuer, resource = null } = this.state()
    if (clientId !== undefined) {
      this.#vault.remove(['home', this.#tenant, this.#server, clientId])
    }
    if (issuer !== undefined) {
      this.#vault.remove(this.#grantPlace(issuer, resource))
      this.#vault.remove(this.#clientPlace(issuer))
    }
    return this.#vault.remove(this.#statePlace())
  }

  /** @returns a function that ends the lease; `null` if another holder has it */
  lease(ms: number): (() => void) | null {
    const { issuer = '', resource = null } = this.state()
    return this.#vault.lease(this.#grantPlace(issuer, resource), ms)
  }

  #statePlace(): GrantKey {
    return ['server', this.#tenant, this.#server]
  }

  #grantPlace(issuer: string, resource: string | null): GrantKey {
    return ['grant', this.#tenant, issuer, resource ?? this.#server]
  }

  #clientPlace(issuer: string): GrantKey {
    return ['client', this.#tenant, issuer]
  }
}

/** When a token that came at that time expires. */
export function expiryOf({ expires_in }: StoredOAuthTokens, now: number): number | null {
  return typeof expires_in === 'number' && expires_in >= 0 ? now + expires_in * 1000 : null
}

/** @throws AuthFailure for tokens that need more than a header */
export function requireBearer({ token_type: type, access_token: token }: OAuthTokens): void {
  if (type.toLowerCase() !== 'bearer') throw new AuthFailure('a token that is not of type Bearer')
  if (!/^[\x21-\x7e]+$/.test(token)) throw new AuthFailure('a token that is no text of a header')
}
