import { AppError } from './core/base/errors.ts'
import type { CountAnswer, CountRequest } from './core/contract/count.ts'
import type {
  DecodeAnswer,
  DecodeRequest,
  EncodeAnswer,
  EncodeRequest,
} from './core/contract/encode.ts'
import { validate } from './core/contract/validate.ts'
import { countOperation } from './core/operations/count.ts'
import { decodeOperation } from './core/operations/decode.ts'
import { encodeOperation } from './core/operations/encode.ts'
import type { Operation, OperationContext } from './core/operations/operation.ts'
import { type Explanation, explainContent } from './core/pipeline/explain.ts'
import { createLocalContext } from './library/local-context.ts'

export type { CountAnswer, CountRequest, DecodeAnswer, DecodeRequest, EncodeAnswer, EncodeRequest }

let context: OperationContext | undefined

/**
 * What `POST /v1/encode` answers, computed in this thread. The first call loads the vocabularies.
 * @throws AppError with its `code`: `invalid_request`, also of a `session`; `budget_too_small`
 */
export function encode(request: EncodeRequest): EncodeAnswer {
  refuseSession(request)
  return run(encodeOperation, request)
}

/**
 * How the answer of `encode` was chosen: the verdict about each candidate, the choice of the parts
 * of the text, and the part that a budget leaves. No session has a part in it.
 * @throws AppError `invalid_request`, `budget_too_small`
 */
export function explain(request: EncodeRequest & { content: string }): Explanation {
  context ??= createLocalContext()
  return explainContent(
    { ...validate(encodeOperation.request, request), content: request.content },
    context,
  )
}

/**
 * What `POST /v1/decode` answers.
 * @throws AppError `invalid_request`, `not_decodable`; `payload_too_large` if the decoded text
 * is longer than `limits.max_body_bytes`
 */
export function decode(request: DecodeRequest): DecodeAnswer {
  refuseSession(request)
  return run(decodeOperation, request)
}

/**
 * What `POST /v1/count` answers.
 * @throws AppError `invalid_request`
 */
export function count(request: CountRequest): CountAnswer {
  return run(countOperation, request)
}

/** Nothing is kept between two calls: an answer that ignored the session would seem to know it. */
function refuseSession({ session }: { readonly session?: unknown }): void {
  if (session === undefined) return
  const message = 'the library keeps no sessions; a service does (POST /v1/encode)'
  throw new AppError('invalid_request', `session: ${message}`, {
    errors: [{ path: 'session', message }],
  })
}

function run<Request, Answer>(operation: Operation<Request, Answer>, request: Request): Answer {
  context ??= createLocalContext()
  return operation.run(validate(operation.request, request), context).answer
}
