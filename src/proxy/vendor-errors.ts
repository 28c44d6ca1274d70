/** The vendor whose API a route has. It decides how a failure is written. */
export type Vendor = 'anthropic' | 'openai'

/** A failure of ours as a client of a vendor's API gets it. */
export interface VendorError {
  /** The HTTP status, which decides the vendor's type of the error. */
  readonly status: number
  /** Ours, stable, for programs: `upstream_timeout`. */
  readonly code: string
  /** For people. Never the text of an exception, which may name hosts. */
  readonly message: string
}

/** The types of https://docs.claude.com/en/api/errors by status. */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/**
 * The body of an error answer: for Anthropic `{"type":"error","error":{"type","message"}}`, for
 * OpenAI `{"error":{"message","type","param","code"}}`.
 */
export function vendorErrorBody(vendor: Vendor, error: VendorError): string {
  return JSON.stringify(envelope(vendor, error))
}

/**
 * The event that reports a failure in a stream of server-sent events which has begun. Both
 * vendors' clients throw at it; nothing may follow.
 */
export function vendorErrorEvent(vendor: Vendor, error: VendorError): string {
  const data = `data: ${JSON.stringify(envelope(vendor, error))}\n\n`
  return vendor === 'anthropic' ? `event: error\n${data}` : data
}

function envelope(vendor: Vendor, { status, code, message }: VendorError): object {
  const fallback = status < 500 ? 'invalid_request_error' : null
  if (vendor === 'anthropic') {
    const type = ANTHROPIC_TYPES[status] ?? fallback ?? 'api_error'
    return { type: 'error', error: { type, message } }
  }
  const type = OPENAI_TYPES[status] ?? fallback ?? 'server_error'
  return { error: { message, type, param: null, code } }
}
