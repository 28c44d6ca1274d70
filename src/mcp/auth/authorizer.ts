import { authFailure, oauthCode } from './auth-failure.ts'
import { type Challenge, type ChallengeTerms, challengeTerms } from './challenge.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import { OAuthProvider } from './oauth-provider.ts'
import type { OAuthTerms } from './oauth-terms.ts'
import { expiryOf, type Grant, requireBearer, type ServerGrants } from './server-grants.ts'

export interface AuthorizerOptions {
  readonly server: URL
  readonly terms: OAuthTerms
  readonly grants: ServerGrants
  readonly fetch: GuardedFetch
  /** Milliseconds since 1970. */
  now?(): number
  pause?(ms: number): Promise<void>
  /** Reports what happened; no secrets, no text of a server. */
  log?(event: string, fields: Readonly<Record<string, unknown>>): void
}

/** A token is renewed this long before it expires, in milliseconds. */
const MARGIN_MS = 30_000
/** A token that was refused this soon after it came is not renewed again, in milliseconds. */
const YOUNG_MS = 5_000
/** Longer than all requests of one renewal may take together. */
const LEASE_MS = 60_000
/** Between two looks at what another process renews, and for how long at most. */
const LOOK_MS = 50
const MOST_LOOKS = 600

const loadSdk = () => import('@modelcontextprotocol/client')

/** Gives the requests to one server their token, and renews it. */
export class Authorizer {
  readonly #options: AuthorizerOptions
  readonly #now: () => number
  readonly #pause: (ms: number) => Promise<void>
  #renewal: Promise<Grant | null> | undefined

  constructor(options: AuthorizerOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#pause =
      options.pause ?? (ms => new Promise(resolve => void setTimeout(resolve, ms).unref()))
  }

  /** `Authorization`, if there is a token. Never rejects for the lack of one. */
  async headers(): Promise<Record<string, string>> {
    let grant = this.#options.grants.grant()
    if (this.#isDue(grant)) grant = (await this.#renew(grant, null)) ?? grant
    return grant === null || this.#isOver(grant) ? {} : { authorization: headerOf(grant) }
  }

  /**
   * Tries to get a token after a refusal.
   * @param sent the `Authorization` that was refused
   * @returns whether the request is worth sending once more
   */
  async renew(challenge: Challenge, sent: string | undefined): Promise<boolean> {
    const { server, grants, terms } = this.#options
    const wanted = challengeTerms(challenge, server)
    const isStepUp = challenge.status === 403
    if (isStepUp && wanted.error !== 'insufficient_scope') return false
    const grant = grants.grant()
    const current = grant === null ? undefined : headerOf(grant)
    // Another request, or another process, has renewed it meanwhile.
    if (current !== undefined && current !== sent) return true
    const scope = isStepUp ? unionOf(terms.scope, grant?.tokens.scope, wanted.scope) : wanted.scope
    const isYoung = grant !== null && this.#now() - grant.obtainedAt < YOUNG_MS
    const canWiden = terms.grant === 'client_credentials'
    if (!(isYoung && !isStepUp) && (canWiden || !isStepUp)) {
      const renewed = await this.#renew(grant, { ...wanted, scope })
      if (renewed !== null && headerOf(renewed) !== sent) return true
    }
    const isKnown = grants.state().wantedScope === scope
    if (scope !== undefined && !isKnown) grants.remember({ wantedScope: scope })
    this.#options.log?.('login needed', { status: challenge.status })
    return false
  }

  /** Calls the handler whenever there is another token, also of another process. */
  onChange(handler: () => void, everyMs: number): () => void {
    const { grants } = this.#options
    const current = () => grants.grant()?.tokens.access_token
    let known = current()
    const timer = setInterval(() => {
      const token = current()
      if (token === known) return
      known = token
      if (token !== undefined) handler()
    }, everyMs).unref()
    return () => clearInterval(timer)
  }

  #isDue(grant: Grant | null): boolean {
    if (grant === null) return this.#options.terms.grant === 'client_credentials'
    if (grant.expiresAt === null || !this.#canRenew(grant)) return false
    const life = grant.expiresAt - grant.obtainedAt
    return this.#now() >= grant.expiresAt - Math.min(MARGIN_MS, life / 10)
  }

  #isOver({ expiresAt }: Grant): boolean {
    return expiresAt !== null && this.#now() >= expiresAt
  }

  #canRenew(grant: Grant | null): boolean {
    if (this.#options.terms.grant === 'client_credentials') return true
    return grant?.tokens.refresh_token !== undefined
  }

  /** @param challenge what the server asked for; `null` if it has not refused the token */
  async #renew(before: Grant | null, challenge: ChallengeTerms | null): Promise<Grant | null> {
    if (!this.#canRenew(before)) return null
    this.#renewal ??= this.#renewInTurn(before, challenge).finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #renewInTurn(
    before: Grant | null,
    challenge: ChallengeTerms | null,
  ): Promise<Grant | null> {
    const { grants } = this.#options
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const release = grants.lease(LEASE_MS)
      if (release === null) {
        await this.#pause(LOOK_MS)
        continue
      }
      try {
        const current = grants.grant()
        const isNew =
          current !== null && current.tokens.access_token !== before?.tokens.access_token
        if (isNew) return current
        if (!this.#canRenew(current)) return null
        return await this.#ask(current, challenge)
      } catch (error) {
        this.#failed(before, error)
        return null
      } finally {
        release()
      }
    }
    return null
  }

  async #ask(grant: Grant | null, challenge: ChallengeTerms | null): Promise<Grant | null> {
    const { terms, grants } = this.#options
    if (terms.grant === 'client_credentials') {
      await this.#askForClient(challenge)
      return grants.grant()
    }
    return grant === null ? null : await this.#refresh(grant, challenge)
  }

  async #askForClient(challenge: ChallengeTerms | null): Promise<void> {
    const { server, terms, grants, fetch } = this.#options
    const sdk = await loadSdk()
    const addClientAuthentication = await clientKeyAuthentication(terms)
    const provider = new OAuthProvider({
      terms,
      grants,
      now: this.#now,
      ...(addClientAuthentication === null ? {} : { addClientAuthentication }),
    })
    const scope = challenge?.scope ?? terms.scope
    await sdk.auth(provider, {
      serverUrl: server,
      fetchFn: fetch,
      ...(scope === undefined ? {} : { scope }),
      ...metadataOption(challenge),
    })
    this.#options.log?.('token obtained', {})
  }

  async #refresh(grant: Grant, challenge: ChallengeTerms | null): Promise<Grant | null> {
    const { grants, terms, fetch } = this.#options
    const sdk = await loadSdk()
    const { issuer, resource, client, tokens } = grant
    const metadata = await this.#metadataOf(grant, challenge)
    const secret = terms.clientId === client.client_id ? terms.clientSecret?.() : undefined
    const addClientAuthentication = await clientKeyAuthentication(terms)
    const renewed = await sdk.refreshAuthorization(issuer, {
      ...(metadata === undefined ? {} : { metadata }),
      clientInformation: secret === undefined ? client : { ...client, client_secret: secret },
      refreshToken: tokens.refresh_token as string,
      fetchFn: fetch,
      ...(resource === null ? {} : { resource }),
      ...(addClientAuthentication === null ? {} : { addClientAuthentication }),
    })
    requireBearer(renewed)
    const now = this.#now()
    const scope = renewed.scope ?? tokens.scope
    const kept = { ...renewed, issuer, ...(scope === undefined ? {} : { scope }) }
    const next = { ...grant, tokens: kept, obtainedAt: now, expiresAt: expiryOf(kept, now) }
    grants.save(next)
    this.#options.log?.('token renewed', {})
    return next
  }

  /**
   * The authorization server's own description. If the server refused the token, it may have moved
   * to another one: then the grant is of no use, and must not be shown to the new one.
   */
  async #metadataOf({ issuer }: Grant, challenge: ChallengeTerms | null) {
    const { server, fetch } = this.#options
    const sdk = await loadSdk()
    if (challenge !== null) {
      const found = await sdk.discoverOAuthServerInfo(server, {
        fetchFn: fetch,
        ...metadataOption(challenge),
      })
      const named = found.authorizationServerMetadata?.issuer ?? found.authorizationServerUrl
      if (named !== issuer) throw new Moved()
      return found.authorizationServerMetadata
    }
    return await sdk.discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch })
  }

  #failed(grant: Grant | null, error: unknown): void {
    const { grants } = this.#options
    const { message } = authFailure(error)
    this.#options.log?.('token not renewed', { reason: message })
    if (grant === null || oauthCode(error) !== 'invalid_grant') return
    const { refresh_token: _, ...tokens } = grant.tokens
    grants.save({ ...grant, tokens })
  }
}

class Moved extends Error {}

function headerOf({ tokens }: Grant): string {
  return `Bearer ${tokens.access_token}`
}

function metadataOption(challenge: ChallengeTerms | null): { resourceMetadataUrl?: URL } {
  const url = challenge?.resourceMetadataUrl
  return url === undefined ? {} : { resourceMetadataUrl: url }
}

async function clientKeyAuthentication({ clientId, clientKey, clientKeyAlg }: OAuthTerms) {
  if (clientKey === undefined || clientId === undefined) return null
  const sdk = await loadSdk()
  const privateKey = clientKey()
  return sdk.createPrivateKeyJwtAuth({
    issuer: clientId,
    subject: clientId,
    privateKey,
    alg: clientKeyAlg,
  })
}

/** All scopes of several lists, each once. */
export function unionOf(...lists: readonly (string | undefined)[]): string | undefined {
  const all = new Set(lists.flatMap(list => (list ?? '').split(/\s+/)).filter(Boolean))
  return all.size === 0 ? undefined : [...all].join(' ')
}
