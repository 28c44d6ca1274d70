import { rewriteRequest } from '../compress/rewrite-request.ts'
import type { RouteName } from '../messages/scan-request.ts'
import type { ByteOperation } from './byte-operation.ts'

/** Selected values of one body: hundreds of thousands of messages, in some 100 MB. */
const MAX_VALUES = 1_000_000

/** The shapes of bodies; an operation for each. */
export const ROUTE_NAMES: readonly RouteName[] = [
  'anthropic_messages',
  'openai_chat',
  'openai_responses',
]

/** The name of the operation for request bodies of one shape. */
export function rewriteOp(route: RouteName): string {
  return `rewrite_${route}`
}

/** A request to a vendor's API, with smaller tool results where that can be done. */
export function rewriteRequestOperation(route: RouteName): ByteOperation {
  const name = rewriteOp(route)
  return {
    kind: 'bytes',
    name,
    run(body, context) {
      const asReport = (response: string) => ({ op: name, response })
      const limits = {
        maxBytes: body.length,
        maxDepth: context.maxDepth,
        maxValues: MAX_VALUES,
      }
      const { bytes, report, responses, ...rest } = rewriteRequest(body, route, limits, context)
      return {
        bytes: bytes === body ? null : bytes,
        reports: [{ op: name, rewrite: report }, ...responses.map(asReport)],
        ...rest,
      }
    },
  }
}
