import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AuthFailure, authFailure } from './auth-failure.ts'
import { type AuthorizerOptions, unionOf } from './authorizer.ts'
import { challengeTerms } from './challenge.ts'
import { OAuthProvider } from './oauth-provider.ts'
import { probeServer } from './probe-server.ts'

export interface LoginOptions
  extends Pick<AuthorizerOptions, 'server' | 'terms' | 'grants' | 'fetch'> {
  /** Where the browser comes back to; the one of the last login, or any, if it is not given. */
  readonly port?: number | undefined
  readonly timeoutMs: number
  /** Leads the user to the authorization server. */
  visit(url: URL, listener: Pick<CallbackListener, 'take'>): void
}

/**
 * Gets a token with the consent of a user in a browser, and keeps it.
 * @returns the authorization server and the scopes that it granted
 * @throws AuthFailure
 */
export async function login(
  options: LoginOptions,
): Promise<{ readonly issuer: string; readonly scope: string | null }> {
  const { grants, port } = options
  const state = randomBytes(32).toString('base64url')
  const last = grants.state().port
  const ports = port !== undefined ? [port] : [...(last === undefined ? [] : [last]), 0]
  let listener: CallbackListener
  try {
    listener = await listenForCallback(state, ports)
  } catch {
    throw new AuthFailure(`the port ${port} for the browser's return is in use`)
  }
  try {
    await authorize(options, listener, state)
  } catch (error) {
    throw authFailure(error)
  } finally {
    listener.close()
  }
  grants.remember({ port: listener.port })
  const grant = grants.grant()
  if (grant === null) throw new AuthFailure('no token came')
  return { issuer: grant.issuer, scope: grant.tokens.scope ?? null }
}

async function authorize(
  { server, terms, grants, fetch, timeoutMs, visit }: LoginOptions,
  listener: CallbackListener,
  state: string,
): Promise<void> {
  const sdk = await import('@modelcontextprotocol/client')
  const challenge = challengeTerms(await probeServer(server, {}), server)
  const { wantedScope } = grants.state()
  // What was granted before stays granted.
  const before = wantedScope === undefined ? undefined : grants.grant()?.tokens.scope
  const scope = unionOf(terms.scope, before, wantedScope, challenge.scope)
  const { resourceMetadataUrl } = challenge
  const provider = new OAuthProvider({
    terms,
    grants,
    redirectUrl: listener.url,
    state,
    now: Date.now,
  })
  const request = {
    serverUrl: server,
    fetchFn: fetch,
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  }
  await sdk.auth(provider, { ...request, forceReauthorization: true })
  const url = provider.authorizationUrl
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AuthFailure('the authorization server names no page to visit')
  }
  visit(url, listener)
  const returned = await within(listener.returned, timeoutMs)
  const iss = returned.get('iss') ?? undefined
  const code = returned.get('code')
  if (code === null) {
    // An error counts only if it comes from the authorization server that was asked.
    const metadata = provider.discoveryState()?.authorizationServerMetadata
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    })
    throw new AuthFailure(refusalText(returned.get('error')))
  }
  await sdk.auth(provider, {
    ...request,
    authorizationCode: code,
    forceReauthorization: true,
    ...(iss === undefined ? {} : { iss }),
  })
}

function refusalText(error: string | null): string {
  const code = error !== null && /^[a-z_]{1,64}$/.test(error) ? error : 'no code came'
  return `the authorization server refuses: ${code}`
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AuthFailure('the browser did not come back in time')), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Where a browser comes back to after the user has decided. */
interface CallbackListener {
  readonly url: string
  readonly port: number
  /** Resolves with the parameters of the first return that belongs to this flow. */
  readonly returned: Promise<URLSearchParams>
  /**
   * Takes the URL that a browser could not open, because it runs on another machine.
   * @returns whether it belongs to this flow
   */
  take(url: string): boolean
  close(): void
}

const PATH = '/callback'

/**
 * Listens on loopback only.
 * @param state what the return must carry
 * @param ports tried in turn; 0 is any
 * @throws if none is free
 */
export async function listenForCallback(
  state: string,
  ports: readonly number[],
): Promise<CallbackListener> {
  const { promise: returned, resolve } = Promise.withResolvers<URLSearchParams>()
  const accept = (url: URL): boolean => {
    const given = Buffer.from(url.searchParams.get('state') ?? '')
    const expected = Buffer.from(state)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
    resolve(url.searchParams)
    return true
  }
  const server = createServer((request, response) => answer(request, response, accept))
  server.headersTimeout = 10_000
  server.requestTimeout = 10_000
  let failure: unknown
  for (const port of ports) {
    const used = await listen(server, port).catch((error: unknown) => {
      failure = error
      return null
    })
    if (used === null) continue
    const url = `http://127.0.0.1:${used}${PATH}`
    return {
      url,
      port: used,
      returned,
      take(text) {
        const given = URL.parse(text.trim())
        return given !== null && `${given.origin}${given.pathname}` === url && accept(given)
      },
      close() {
        server.close()
        server.closeAllConnections()
      },
    }
  }
  throw failure
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function answer(
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
  accept: (url: URL) => boolean,
): void {
  const target = URL.parse(url, 'http://127.0.0.1')
  const isOurs = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(headers.host ?? '')
  const isReturn = method === 'GET' && target?.pathname === PATH && isOurs
  const isAccepted = isReturn && accept(target)
  const text = isAccepted
    ? 'You can close this window.'
    : 'This is not the return that is expected.'
  response.writeHead(isAccepted ? 200 : 404, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`${text}\n`)
}
