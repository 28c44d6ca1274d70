import type { VendorError } from '../core/dialects/dialect.ts'
import { type VendorName, vendorNamed } from '../core/dialects/lookup.ts'

/** The body of an error answer, as the vendor writes it. */
export function vendorErrorBody(vendor: VendorName, error: VendorError): string {
  return JSON.stringify(vendorNamed(vendor).errorBody(error))
}

/**
 * The event that reports a failure in a stream of server-sent events which has begun. The vendors'
 * clients throw at it; nothing may follow.
 */
export function vendorErrorEvent(vendor: VendorName, error: VendorError): string {
  const { errorEvent } = vendorNamed(vendor)
  const data = `data: ${vendorErrorBody(vendor, error)}\n\n`
  return errorEvent === undefined ? data : `event: ${errorEvent}\n${data}`
}

/**
 * The event that reports a failure of ours over a WebSocket: the vendor's error, and the status and
 * headers that it would have as an answer over HTTP.
 */
export function errorEvent(
  vendor: VendorName,
  error: VendorError,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const body: unknown = JSON.parse(vendorErrorBody(vendor, error))
  return Buffer.from(
    JSON.stringify({ type: 'error', status: error.status, ...Object(body), headers }),
  )
}
