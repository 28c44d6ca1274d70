import {
  type DedupAnswer,
  type DedupRequest,
  dedupAnswer,
  dedupRequest,
} from '../contract/sessions.ts'
import { dedupContent } from '../pipeline/dedup.ts'
import { checkContent, contentLookup, withContent } from './kept-content.ts'
import type { Operation } from './operation.ts'
import { inSharedSession, sessionLookupOf } from './shared-session.ts'

/** `POST /v1/dedup`. Fails with `invalid_request` for an unknown tokenizer. */
export const dedupOperation: Operation<DedupRequest, DedupAnswer> = {
  name: 'dedup',
  request: dedupRequest,
  answer: dedupAnswer,
  lookups(request, sources) {
    checkContent(request)
    const session = sessionLookupOf(request, sources)
    if (request.input_ref === undefined && session === null) return [null]
    return [{ ...contentLookup(request), ...(session === null ? {} : { session }) }]
  },
  run: (request, context) =>
    inSharedSession(request, context, own => dedupContent(withContent(request, own), own)),
}
