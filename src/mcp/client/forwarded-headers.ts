import { createHmac, randomBytes } from 'node:crypto'

/** What one client's request brings for the servers that headers are forwarded to. */
export interface ForwardedHeaders {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Tells credentials apart without holding them: the same for the same values, within this
   * process. Connections are kept by it.
   */
  readonly identity: string
}

/** How our own keys begin: one that a client sends in a forwarded header is not for the server. */
const OWN_KEY = /^(?:Bearer\s+)?hvs_/i
const OWN_HEADER = /^x-haversack-/

/** Without it, an identity in a log would allow guesses about the values. */
const SALT = randomBytes(32)

/**
 * Picks the named headers of a request. What was made for us, our key, is never among them.
 * @param names in lower case, from the configuration
 */
export function forwardedHeaders(
  names: readonly string[],
  header: (name: string) => string | null,
): ForwardedHeaders {
  const pairs = [...new Set(names)].sort().flatMap(name => {
    const value = OWN_HEADER.test(name) ? null : header(name)
    return value === null || OWN_KEY.test(value) ? [] : [[name, value] as const]
  })
  const identity = createHmac('sha256', SALT).update(JSON.stringify(pairs)).digest('base64url')
  return { headers: Object.fromEntries(pairs), identity }
}

/** Those of them that one server gets. */
export function pickForwarded(
  names: readonly string[],
  { headers }: ForwardedHeaders,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)))
}
