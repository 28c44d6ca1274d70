import { createHash, createHmac } from 'node:crypto'

/** A request as a server got it. */
export interface SignedRequest {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly body: Uint8Array
}

export interface AwsKey {
  readonly id: string
  readonly secret: string
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/

/**
 * What is wrong with a signature of version 4, written from AWS's description of it; `null` if it
 * is right. The path is encoded once more, as for every service but S3.
 */
export function signatureFault(request: SignedRequest, key: AwsKey): string | null {
  const { method, target, rawHeaders, body } = request
  const headers = new Map<string, string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = String(rawHeaders[at]).toLowerCase()
    if (headers.has(name)) return `${name} twice`
    headers.set(name, String(rawHeaders[at + 1]).trim())
  }
  const parts = AUTHORIZATION.exec(headers.get('authorization') ?? '')
  if (parts === null) return 'no signature'
  const [, id, day = '', region = '', service = '', names = '', signature] = parts
  if (id !== key.id) return 'another key'
  const names_ = names.split(';')
  if (!names_.includes('host') || !names_.includes('x-amz-date')) return 'host or date not signed'
  const [path = '', query = ''] = target.split('?')
  const canonical = [
    method,
    path.split('/').map(encode).join('/'),
    canonicalQuery(query),
    ...names_.map(name => `${name}:${(headers.get(name) ?? '').replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const date = headers.get('x-amz-date') ?? ''
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const signing = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${key.secret}`,
  )
  const expected = createHmac('sha256', signing).update(text).digest('hex')
  return expected === signature ? null : 'the signature differs'
}

function canonicalQuery(query: string): string {
  if (query === '') return ''
  return query
    .split('&')
    .map(pair => pair.split('=').map(part => encode(decodeURIComponent(part))))
    .map(([name = '', value = '']) => `${name}=${value}`)
    .sort()
    .join('&')
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
