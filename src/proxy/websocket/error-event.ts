import type { VendorError } from '../../core/dialects/dialect.ts'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { vendorErrorBody } from '../vendor-errors.ts'

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
