import type { PricedVendor } from '../core/conversation/usage/billing.ts'

/** The vendor whose API a route has. It decides how a failure is written. */
export type Vendor = PricedVendor

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

/** The statuses of https://cloud.google.com/apis/design/errors by HTTP status. */
const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** The errors that Bedrock's operations name. */
const AMAZON_TYPES: Readonly<Record<number, string>> = {
  401: 'AccessDeniedException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
  504: 'ModelTimeoutException',
}

/**
 * The body of an error answer: for Anthropic `{"type":"error","error":{"type","message"}}`, for
 * OpenAI `{"error":{"message","type","param","code"}}`, for Google
 * `{"error":{"code","message","status"}}`, for Amazon `{"__type","message"}`.
 */
export function vendorErrorBody(vendor: Vendor, error: VendorError): string {
  return JSON.stringify(ENVELOPES[vendor](error))
}

/**
 * The event that reports a failure in a stream of server-sent events which has begun. The vendors'
 * clients throw at it; nothing may follow.
 */
export function vendorErrorEvent(vendor: Vendor, error: VendorError): string {
  const data = `data: ${vendorErrorBody(vendor, error)}\n\n`
  return vendor === 'anthropic' ? `event: error\n${data}` : data
}

const ENVELOPES: Readonly<Record<Vendor, (error: VendorError) => object>> = {
  anthropic({ status, message }) {
    const type = ANTHROPIC_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
    return { type: 'error', error: { type, message } }
  },
  openai({ status, code, message }) {
    const type = OPENAI_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
    return { error: { message, type, param: null, code } }
  },
  google({ status: code, message }) {
    const status = GOOGLE_STATUSES[code] ?? (code < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
    return { error: { code, message, status } }
  },
  amazon({ status, message }) {
    const type = status < 500 ? 'ValidationException' : 'InternalServerException'
    return { __type: AMAZON_TYPES[status] ?? type, message }
  },
}
