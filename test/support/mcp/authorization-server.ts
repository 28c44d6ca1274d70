import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a test makes the server do otherwise than a good one. */
export interface Misdeeds {
  /** Members of the metadata that differ. */
  metadata?: Record<string, unknown>
  /** `iss` of the browser's return; `null` for none. */
  iss?: string | null
  /** Parameters of the browser's return in place of a code. */
  returns?: Record<string, string>
  /** The whole answer of the token endpoint. */
  tokenAnswer?: { readonly status: number; readonly body: string } | undefined
  /** The token endpoint answers once this resolves. */
  tokenWaits?: Promise<unknown>
  /** Members of tokens that differ. */
  tokens?: Record<string, unknown>
  /** Where the metadata redirects to. */
  metadataMovedTo?: string
}

export interface TokenRequest {
  readonly params: URLSearchParams
  readonly authorization: string | undefined
}

/** An authorization server that agrees to everything, and rotates its refresh tokens. */
export class AuthorizationServer {
  readonly misdeeds: Misdeeds = {}
  readonly registrations: Record<string, unknown>[] = []
  readonly authorizations: URLSearchParams[] = []
  readonly tokenRequests: TokenRequest[] = []
  /** Paths that were asked for. */
  readonly paths: string[] = []
  /** Access tokens that are good, with their scopes. */
  readonly valid = new Map<string, string>()
  /** Refresh tokens that came a second time: each is a theft for a good server. */
  readonly reused: string[] = []
  expiresIn: number | undefined = 3600
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(error => response.destroy(error))
  })
  readonly #codes = new Map<string, URLSearchParams>()
  readonly #refresh = new Map<string, string>()
  readonly #spent = new Set<string>()
  #issuer = ''

  static async start(): Promise<AuthorizationServer> {
    const started = new AuthorizationServer()
    await new Promise<void>(resolve => started.#server.listen(0, '127.0.0.1', resolve))
    started.#issuer = `http://127.0.0.1:${(started.#server.address() as AddressInfo).port}`
    return started
  }

  get issuer(): string {
    return this.#issuer
  }

  close(): Promise<void> {
    return new Promise(resolve => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  /** A grant that no user had to agree to. */
  issue(scope = ''): Record<string, unknown> {
    const [access, refresh] = [secret('access'), secret('refresh')]
    this.valid.set(access, scope)
    this.#refresh.set(refresh, scope)
    return {
      access_token: access,
      token_type: 'Bearer',
      refresh_token: refresh,
      ...(this.expiresIn === undefined ? {} : { expires_in: this.expiresIn }),
      ...(scope === '' ? {} : { scope }),
      ...this.misdeeds.tokens,
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.#issuer)
    this.paths.push(url.pathname)
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString()
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        if (this.misdeeds.metadataMovedTo !== undefined) {
          response.writeHead(302, { location: this.misdeeds.metadataMovedTo }).end()
          return
        }
        return json(response, { ...this.#metadata(), ...this.misdeeds.metadata })
      case '/register':
        return this.#register(response, JSON.parse(body))
      case '/authorize':
        return this.#authorize(response, url.searchParams)
      case '/token':
        return await this.#token(response, {
          params: new URLSearchParams(body),
          authorization: request.headers.authorization,
        })
      default:
        return json(response, {}, 404)
    }
  }

  #metadata(): Record<string, unknown> {
    return {
      issuer: this.#issuer,
      authorization_endpoint: `${this.#issuer}/authorize`,
      token_endpoint: `${this.#issuer}/token`,
      registration_endpoint: `${this.#issuer}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    }
  }

  #register(response: ServerResponse, asked: Record<string, unknown>): void {
    this.registrations.push(asked)
    json(response, { ...asked, client_id: `client-${this.registrations.length}` }, 201)
  }

  #authorize(response: ServerResponse, asked: URLSearchParams): void {
    this.authorizations.push(asked)
    const code = randomBytes(8).toString('hex')
    this.#codes.set(code, asked)
    const back = new URL(asked.get('redirect_uri') as string)
    const { iss = this.#issuer, returns = { code } } = this.misdeeds
    for (const [name, value] of Object.entries(returns)) back.searchParams.set(name, value)
    back.searchParams.set('state', asked.get('state') as string)
    if (iss !== null) back.searchParams.set('iss', iss)
    response.writeHead(302, { location: back.href }).end()
  }

  async #token(response: ServerResponse, request: TokenRequest): Promise<void> {
    this.tokenRequests.push(request)
    await this.misdeeds.tokenWaits
    const { tokenAnswer } = this.misdeeds
    if (tokenAnswer !== undefined) {
      response.writeHead(tokenAnswer.status, { 'content-type': 'application/json' })
      response.end(tokenAnswer.body)
      return
    }
    const scope = this.#grantedScope(request.params)
    if (scope === null) json(response, { error: 'invalid_grant' }, 400)
    else json(response, this.issue(scope))
  }

  #grantedScope(params: URLSearchParams): string | null {
    const given = (name: string) => params.get(name) ?? ''
    if (given('grant_type') === 'client_credentials') return given('scope')
    if (given('grant_type') === 'refresh_token') {
      const token = given('refresh_token')
      if (this.#spent.has(token)) this.reused.push(token)
      const scope = this.#refresh.get(token) ?? null
      this.#refresh.delete(token)
      this.#spent.add(token)
      return scope
    }
    const asked = this.#codes.get(given('code'))
    this.#codes.delete(given('code'))
    const challenge = createHash('sha256').update(given('code_verifier')).digest('base64url')
    if (asked?.get('code_challenge') !== challenge) return null
    return asked.get('redirect_uri') === given('redirect_uri') ? (asked.get('scope') ?? '') : null
  }
}

function secret(kind: string): string {
  return `planted-${kind}-${randomBytes(12).toString('hex')}`
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
