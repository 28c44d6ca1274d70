/**
 * Names and values in turn, in the order and spelling of the wire: `IncomingMessage.rawHeaders`.
 */
export type RawHeaders = readonly string[]

/** Headers for one hop only (RFC 9110 §7.6.1, §11.7). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
])

/**
 * Headers that are decided by name, so that no `Connection` header can remove them. They say where
 * a message goes, where it ends, and who may read it.
 */
const DECIDED_BY_NAME: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Prefix of our headers for the proxy itself: its key, its switches. */
const OWN_PREFIX = 'x-haversack-'

/**
 * How the body of a forwarded request is sent: as it comes in, with the framing that it has, or as
 * one piece.
 */
export type RequestBody =
  | { readonly kind: 'none' | 'sized' | 'chunked' }
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }

export interface RequestHeaderOptions {
  /** `Host` at the upstream. */
  readonly host: string
  readonly method: string
  readonly body: RequestBody
  /** `Expect: 100-continue` goes along: the upstream decides whether the body is sent. */
  readonly keepExpect: boolean
  /** `Connection: Upgrade` and the protocol go along. */
  readonly keepUpgrade: boolean
  /** The extensions of WebSockets go along. */
  readonly keepExtensions: boolean
  /** The answer is read, so it should not be compressed. */
  readonly readsAnswer?: boolean
}

/** Headers of which one line is enough. */
const SINGLE: ReadonlySet<string> = new Set(['host', 'content-length', 'connection'])

/**
 * The headers of a request to the upstream: the client's headers, in order, with duplicates,
 * without those for us (`X-Haversack-*`) or for this hop. `Host` is replaced in its place. A whole
 * body has its own length.
 */
export function requestHeaders(raw: RawHeaders, options: RequestHeaderOptions): string[] {
  const hopByHop = namedByConnection(raw)
  const headers: string[] = []
  const single = new Set<string>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string
    const key = name.toLowerCase()
    const value = hopByHop.has(key) ? null : keptValue(key, raw[at + 1] as string, options)
    if (value === null || single.has(key)) continue
    if (SINGLE.has(key)) single.add(key)
    headers.push(name, value)
    if (key === 'te') headers.push('Connection', 'TE')
  }
  if (!single.has('host')) headers.push('Host', options.host)
  if (!single.has('content-length') && needsLength(options)) {
    headers.push('Content-Length', lengthOf(options.body))
  }
  return headers
}

/** The value with which a header is sent to the upstream; `null` if it is not sent. */
function keptValue(key: string, value: string, options: RequestHeaderOptions): string | null {
  const { body } = options
  switch (key) {
    case 'host':
      return options.host
    case 'content-length':
      return body.kind === 'whole' ? lengthOf(body) : value
    case 'transfer-encoding':
    case 'trailer':
      return body.kind === 'chunked' ? value : null
    case 'expect':
      return options.keepExpect ? value : null
    case 'te':
      // Trailers pass through here, other transfer codings do not (RFC 9110 §10.1.4).
      return /(?:^|[,\s])trailers(?:$|[,;\s])/i.test(value) ? 'trailers' : null
    case 'connection':
      return options.keepUpgrade ? 'Upgrade' : null
    case 'upgrade':
      return options.keepUpgrade ? value : null
    case 'accept-encoding':
      return options.readsAnswer === true ? 'identity' : value
    case 'sec-websocket-extensions':
      return options.keepExtensions ? value : null
    default:
      return key.startsWith(OWN_PREFIX) ? null : value
  }
}

/** Methods that give a body a meaning announce that there is none (RFC 9110 §8.6). */
function needsLength({ method, body }: RequestHeaderOptions): boolean {
  if (body.kind !== 'none') return body.kind === 'whole'
  return method === 'POST' || method === 'PUT' || method === 'PATCH'
}

function lengthOf(body: RequestBody): string {
  return String(body.kind === 'whole' ? body.bytes.length : 0)
}

export interface AnswerHeaderOptions {
  /** Put after the upstream's. */
  readonly extra?: Readonly<Record<string, string>>
  /** Trailers can be sent, so `Trailer` may announce them. */
  readonly trailers?: boolean
  /** The answer switches protocols on this hop too. */
  readonly upgrade?: boolean
  /** The body is another one than the upstream's: not compressed, of this length if it is known. */
  readonly reframed?: { readonly length?: number | undefined }
}

/**
 * The headers of an answer to the client: the upstream's, in order, with duplicates, without
 * those for its own hop.
 */
export function answerHeaders(raw: RawHeaders, options: AnswerHeaderOptions): string[] {
  const hopByHop = namedByConnection(raw)
  const headers: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string
    const key = name.toLowerCase()
    const value = raw[at + 1] as string
    if (hopByHop.has(key) || !isForClient(key, options)) continue
    // After a content-length, Node would encode this header's bytes above 0x7f once more.
    if (key === 'content-disposition' && /[\x80-\xff]/.test(value)) headers.unshift(name, value)
    else headers.push(name, value)
  }
  for (const [name, value] of Object.entries(options.extra ?? {})) headers.push(name, value)
  const length = options.reframed?.length
  if (length !== undefined) headers.push('Content-Length', String(length))
  return headers
}

/** What describes the bytes of the upstream's own body. */
const OF_BODY: ReadonlySet<string> = new Set(['content-length', 'content-encoding'])

function isForClient(key: string, { trailers, upgrade, reframed }: AnswerHeaderOptions): boolean {
  if (reframed !== undefined && OF_BODY.has(key)) return false
  if (key === 'trailer') return trailers === true
  if (key === 'connection' || key === 'upgrade') return upgrade === true
  return key !== 'transfer-encoding'
}

/** Names and values as pairs, as trailers are given to Node. */
export function pairs(raw: RawHeaders): [string, string][] {
  return Array.from({ length: raw.length >> 1 }, (_, at) => [
    raw[2 * at] as string,
    raw[2 * at + 1] as string,
  ])
}

/**
 * The names in lower case that concern one hop: the known ones and those that `Connection` names.
 */
function namedByConnection(raw: RawHeaders): ReadonlySet<string> {
  const named: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if ((raw[at] as string).toLowerCase() !== 'connection') continue
    for (const option of (raw[at + 1] as string).toLowerCase().split(',')) {
      if (!DECIDED_BY_NAME.has(option.trim())) named.push(option.trim())
    }
  }
  return named.length === 0 ? HOP_BY_HOP : new Set([...HOP_BY_HOP, ...named])
}
