import {
  type EncodeAnswer,
  type EncodeRequest,
  encodeAnswer,
  encodeRequest,
} from '../contract/encode.ts'
import type { LookupRequest, LookupSources } from '../contract/lookup.ts'
import { checkRequest } from '../pipeline/encode.ts'
import { encodeContent } from '../pipeline/encode-content.ts'
import { checkContent, contentLookup, withContent } from './kept-content.ts'
import type { Operation, OperationContext } from './operation.ts'
import { inSharedSession, sessionLookupOf } from './shared-session.ts'

/** `POST /v1/encode`. Fails with `invalid_request` and `budget_too_small`. */
export const encodeOperation: Operation<EncodeRequest, EncodeAnswer> = {
  name: 'encode',
  request: encodeRequest,
  answer: encodeAnswer,
  lookups: (request, asked) => [lookupOf(request, asked)],
  run: (request, context) =>
    inSharedSession(request, context, own =>
      encodeContent(withWish(withContent(request, own), own), own),
    ),
}

/** The request with the wish of its headers, unless it has one of its own. */
function withWish<Request extends EncodeRequest>(request: Request, { terms }: OperationContext) {
  const wish = request.response_budget ?? terms?.responseBudget
  return wish === undefined ? request : { ...request, response_budget: wish }
}

function lookupOf(request: EncodeRequest, sources: LookupSources): LookupRequest | null {
  checkContent(request)
  const session = sessionLookupOf(request, sources)
  // A request that is refused must not be counted.
  if (session !== null) checkRequest(request)
  if (request.input_ref === undefined && session === null) return null
  return { ...contentLookup(request), ...(session === null ? {} : { session }) }
}
