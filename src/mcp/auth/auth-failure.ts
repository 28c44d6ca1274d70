/** Why there is no token. Its message may be shown and logged: it holds no text of a server. */
export class AuthFailure extends Error {
  override readonly name = 'AuthFailure'
}

/** What classes of errors of the SDK mean, by name. */
const MEANINGS: Readonly<Record<string, string>> = {
  IssuerMismatchError: 'the authorization server is not the one that it should be (`iss`)',
  AuthorizationServerMismatchError: 'the server names another authorization server than before',
  RegistrationRejectedError: 'the authorization server did not register this client',
  InsecureTokenEndpointError: 'the token endpoint is not HTTPS',
  ZodError: 'the authorization server answered with something else than the protocol allows',
  $ZodError: 'the authorization server answered with something else than the protocol allows',
  SyntaxError: 'the authorization server answered with something else than the protocol allows',
  TimeoutError: 'the authorization server did not answer in time',
  AbortError: 'the authorization server did not answer in time',
}

/** Our own words for an error of the network or of the SDK, whose messages may quote a server. */
export function authFailure(error: unknown): AuthFailure {
  if (error instanceof AuthFailure) return error
  if (!(error instanceof Error)) return new AuthFailure('an unexpected error')
  const { message } = error
  const name = error.name === 'Error' ? error.constructor.name : error.name
  if (name === 'RefusedUrl') return new AuthFailure(`the server names ${message}`)
  const code = oauthCode(error)
  if (code !== null) return new AuthFailure(`the authorization server refuses: ${code}`)
  const meaning = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined
  if (meaning !== undefined) return new AuthFailure(meaning)
  if (message.startsWith('Protected resource ')) {
    return new AuthFailure('the metadata of the server is for another resource')
  }
  if (message.startsWith('Incompatible auth server')) {
    return new AuthFailure('the authorization server lacks what is needed, such as registration')
  }
  return new AuthFailure('the authorization server cannot be reached')
}

/** The code of an error that an authorization server answered with; `null` for other errors. */
export function oauthCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== 'OAuthError') return null
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) ? code : 'server_error'
}
