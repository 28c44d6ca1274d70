import { hash } from 'node:crypto'
import { AppError } from '../base/errors.ts'
import { toText } from '../base/text-bytes.ts'
import {
  type EncodeAnswer,
  type EncodeRequest,
  encodeAnswer,
  encodeRequest,
} from '../contract/encode.ts'
import type { BodyLookup, LookupRequest, LookupSources } from '../contract/lookup.ts'
import { encodeContent } from '../pipeline/encode.ts'
import type { Operation, OperationContext } from './operation.ts'

/** `POST /v1/encode`. Fails with `invalid_request` and `budget_too_small`. */
export const encodeOperation: Operation<EncodeRequest, EncodeAnswer> = {
  name: 'encode',
  request: encodeRequest,
  answer: encodeAnswer,
  lookups: (request, asked) => [lookupOf(request, asked)],
  sessions: ({ session }) => (session === undefined ? [] : [session]),
  run: (request, context) =>
    encodeContent(withWish(withContent(request, context), context), context),
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

function lookupOf(request: EncodeRequest, { sessions }: LookupSources): LookupRequest | null {
  checkContent(request)
  const { input_ref } = request
  if (input_ref !== undefined) return { input_ref }
  const body = sessions ? bodyLookupOf(request) : null
  return body === null ? null : { body }
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
  if (problem !== undefined) throw new AppError(problem.code, problem.detail, problem)
  if (resolution?.input === undefined) {
    throw new AppError('invalid_request', 'input_ref needs the service, which keeps inputs')
  }
  return { ...request, content: toText(resolution.input) }
}

/**
 * `null` without a session, and for text with lone surrogates: it has no UTF-8 bytes of its own, so
 * two such texts could share an identity.
 */
function bodyLookupOf(request: EncodeRequest): BodyLookup | null {
  const { session, content, tool_call_id, tool, file_path } = request
  if (session === undefined || content?.isWellFormed() !== true) return null
  return {
    session,
    identity: hash('sha256', content, 'hex'),
    bytes: Buffer.byteLength(content),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    ...(tool === undefined ? {} : { tool }),
    ...(file_path === undefined ? {} : { file_path }),
  }
}
