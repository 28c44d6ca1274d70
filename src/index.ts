import { homedir } from 'node:os'
import { join } from 'node:path'
import { countOperation } from './core/operations/count.ts'
import { decodeOperation } from './core/operations/decode.ts'
import { encodeOperation } from './core/operations/encode.ts'
import type { Operation, OperationContext } from './core/operations/operation.ts'
import type { CountAnswer, CountRequest } from './core/requests/count.ts'
import type { DecodeAnswer, DecodeRequest } from './core/requests/decode.ts'
import type { EncodeAnswer, EncodeRequest } from './core/requests/encode.ts'
import { validate } from './core/requests/validate.ts'
import { createTokenCounters } from './core/tokens/counters.ts'
import { loadVocabularies } from './vocabulary.ts'

export type { CountAnswer, CountRequest, DecodeAnswer, DecodeRequest, EncodeAnswer, EncodeRequest }

/** As `limits.content_depth` of the service. */
const CONTENT_DEPTH = 256

let context: OperationContext | undefined

/**
 * What `POST /v1/encode` answers, computed in this thread. The first call loads the vocabularies.
 * @throws AppError with the `code` of http-api.md: `invalid_request`, `budget_too_small`
 */
export function encode(request: EncodeRequest): EncodeAnswer {
  return run(encodeOperation, request)
}

/**
 * What `POST /v1/decode` answers.
 * @throws AppError `invalid_request`, `not_decodable`
 */
export function decode(request: DecodeRequest): DecodeAnswer {
  return run(decodeOperation, request)
}

/**
 * What `POST /v1/count` answers.
 * @throws AppError `invalid_request`
 */
export function count(request: CountRequest): CountAnswer {
  return run(countOperation, request)
}

function run<Request, Answer>(operation: Operation<Request, Answer>, request: Request): Answer {
  context ??= {
    counters: createTokenCounters(
      loadVocabularies({ cacheDir: join(homedir(), '.cache', 'haversack') }),
    ),
    maxDepth: CONTENT_DEPTH,
  }
  return operation.run(validate(operation.request, request), context).answer
}
