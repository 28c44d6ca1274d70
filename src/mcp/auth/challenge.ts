/** A refusal of a server for the lack of a token, or of scopes. */
export interface Challenge {
  readonly status: number
  /** `WWW-Authenticate`. */
  readonly authenticate: string | null
}

/** What a challenge asks for. */
export interface ChallengeTerms {
  readonly error: string | undefined
  readonly scope: string | undefined
  /** Where the server describes itself; of its own origin. */
  readonly resourceMetadataUrl: URL | undefined
}

/** Longer ones are not read. */
const MAX_HEADER = 8192

/**
 * Reads a challenge. A URL of another origin is passed over: the document is then looked for at its
 * well-known place.
 */
export function challengeTerms({ authenticate }: Challenge, server: URL): ChallengeTerms {
  const text = authenticate === null || authenticate.length > MAX_HEADER ? '' : authenticate
  const bearer = /(?:^|,\s*)Bearer\s+(.*)$/is.exec(text)?.[1] ?? ''
  const fields = new Map<string, string>()
  for (const [, name, quoted, plain] of bearer.matchAll(FIELD)) {
    const key = (name as string).toLowerCase()
    if (!fields.has(key)) fields.set(key, quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '')
  }
  const url = URL.parse(fields.get('resource_metadata') ?? '')
  return {
    error: fields.get('error'),
    scope: scopeOf(fields.get('scope')),
    resourceMetadataUrl: url?.origin === server.origin ? url : undefined,
  }
}

const FIELD = /([\w-]{1,64})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g

const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+(?: +[\x21\x23-\x5b\x5d-\x7e]+)*$/

/** A list of scopes as RFC 6749 has it; anything else is none. */
function scopeOf(text: string | undefined): string | undefined {
  return text !== undefined && SCOPES.test(text) ? text : undefined
}
