import { AppError } from '../base/errors.ts'
import { toText } from '../base/text-bytes.ts'
import {
  type EncodeAnswer,
  type EncodeRequest,
  encodeAnswer,
  encodeRequest,
} from '../contract/encode.ts'
import type { LookupRequest, LookupSources } from '../contract/lookup.ts'
import { checkRequest, encodeContent } from '../pipeline/encode.ts'
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

function checkContent({ input_ref, content }: EncodeRequest): void {
  if ((content === undefined) !== (input_ref === undefined)) return
  const message = 'exactly one of content and input_ref is required'
  throw new AppError('invalid_request', message, { errors: [{ path: 'content', message }] })
}

function lookupOf(request: EncodeRequest, sources: LookupSources): LookupRequest | null {
  checkContent(request)
  const { input_ref } = request
  const session = sessionLookupOf(request, sources)
  // A request that is refused must not be counted.
  if (session !== null) checkRequest(request)
  if (input_ref === undefined && session === null) return null
  return {
    ...(input_ref === undefined ? {} : { input_ref }),
    ...(session === null ? {} : { session }),
  }
}

/** The request with its content, sent or looked up. */
function withContent(
  request: EncodeRequest,
  { resolutions }: OperationContext,
): EncodeRequest & { content: string } {
  checkContent(request)
  const { content } = request
  if (content !== undefined) return { ...request, content }
  const resolution = resolutions?.[0]
  const { problem } = resolution ?? {}
  if (problem !== undefined) throw AppError.of(problem)
  if (resolution?.input === undefined) {
    throw new AppError('invalid_request', 'input_ref needs the service, which keeps inputs')
  }
  return { ...request, content: toText(resolution.input) }
}
