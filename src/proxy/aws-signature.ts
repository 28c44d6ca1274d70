import aws4 from 'aws4'
import { pairs, type RawHeaders, type RequestBody } from './headers.ts'

/** A request as it leaves, with all of its body. */
export interface UnsignedRequest {
  readonly method: string
  /** With the query, encoded as it is sent. */
  readonly path: string
  readonly headers: RawHeaders
  readonly body: Uint8Array
}

/** The headers of a request with a signature of its own. Never throws for what a client sent. */
export type SignRequest = (request: UnsignedRequest) => string[]

export interface AwsCredentials {
  /** As AWS names the service that is signed for. */
  readonly service: string
  readonly region: string
  /** As they are now: a file with a secret may change. */
  accessKeyId(): string
  secretAccessKey(): string
  /** The token of credentials that are valid for some time; `undefined` for others. */
  sessionToken(): string | undefined
}

const NO_BYTES = new Uint8Array()

/** The headers with a signature, if there is one to make; a body that still comes in has none. */
export function signedHeaders(
  sign: SignRequest | undefined,
  { body, ...request }: Omit<UnsignedRequest, 'body'> & { readonly body: RequestBody },
): RawHeaders {
  if (sign === undefined) return request.headers
  if (body.kind === 'none') return sign({ ...request, body: NO_BYTES })
  return body.kind === 'whole' ? sign({ ...request, body: body.bytes }) : request.headers
}

/** Headers of the client's own signature. */
const OF_SIGNATURE: ReadonlySet<string> = new Set([
  'authorization',
  'x-amz-content-sha256',
  'x-amz-date',
  'x-amz-security-token',
])

/**
 * Signs for a service of AWS with Signature Version 4. The signature covers the method, the path,
 * the query, the host, the content type and the body.
 * @param now Unix milliseconds
 */
export function createAwsSigner(credentials: AwsCredentials, now: () => number): SignRequest {
  const { region, service } = credentials
  return ({ method, path, headers, body }) => {
    const kept: string[] = []
    const covered: Record<string, string> = { 'X-Amz-Date': dateOf(now()) }
    for (const [name, value] of pairs(headers)) {
      const key = name.toLowerCase()
      if (OF_SIGNATURE.has(key)) continue
      if (key === 'host') covered['Host'] = value
      if (key === 'content-type') covered['Content-Type'] = value
      kept.push(name, value)
    }
    const sessionToken = credentials.sessionToken()
    const signed = aws4.sign(
      {
        service,
        region,
        method,
        path,
        headers: covered,
        ...(body.length === 0
          ? {}
          : { body: Buffer.from(body.buffer, body.byteOffset, body.length) }),
      },
      {
        accessKeyId: credentials.accessKeyId(),
        secretAccessKey: credentials.secretAccessKey(),
        ...(sessionToken === undefined ? {} : { sessionToken }),
      },
    )
    const names = new Set([...pairs(kept)].map(([name]) => name.toLowerCase()))
    for (const [name, value] of Object.entries(signed.headers ?? {})) {
      if (!names.has(name.toLowerCase())) kept.push(name, String(value))
    }
    return kept
  }
}

/** `20260131T235959Z` */
function dateOf(now: number): string {
  return new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '')
}
