import { decodeBody, encodeBody } from '../base/content-coding.ts'
import type { RequestTerms } from '../contract/request-terms.ts'
import { rewriteRequest } from '../conversation/rewrite/rewrite-request.ts'
import type { RouteName } from '../dialects/lookup.ts'
import type { ByteOperation } from './operation.ts'
import { rewriteOp } from './rewrite-op.ts'

/** Selected values of one body: hundreds of thousands of messages, in some 100 MB. */
const MAX_VALUES = 1_000_000

const NOT_READABLE = new Uint8Array(0)

/** The body without its coding; empty if it cannot be decoded. */
function decoded(
  body: Uint8Array,
  { coding, maxBytes }: NonNullable<RequestTerms['compressed']>,
): Uint8Array {
  return decodeBody(body, coding, maxBytes) ?? NOT_READABLE
}

/** A request to a vendor's API, with smaller tool results if possible. */
export function rewriteRequestOperation(route: RouteName): ByteOperation {
  const name = rewriteOp(route)
  return {
    kind: 'bytes',
    name,
    run(body, context) {
      const { compressed } = context.terms ?? {}
      const plain = compressed === undefined ? body : decoded(body, compressed)
      const limits = {
        maxBytes: plain.length,
        maxDepth: context.maxDepth,
        maxValues: MAX_VALUES,
      }
      const { bytes, report, responses, ...rest } = rewriteRequest(plain, route, limits, context)
      const encoded = (changed: Uint8Array) =>
        compressed === undefined ? changed : encodeBody(changed, compressed.coding)
      return {
        bytes: bytes === plain ? null : encoded(bytes),
        reports: [{ op: name, rewrite: report }, ...responses.map(each => ({ op: name, ...each }))],
        ...rest,
      }
    },
  }
}
