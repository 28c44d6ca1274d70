import { hash } from 'node:crypto'
import { encodeContent } from '../pipeline/encode.ts'
import {
  type EncodeAnswer,
  type EncodeRequest,
  encodeAnswer,
  encodeRequest,
} from '../requests/encode.ts'
import type { Facts, Operation } from './operation.ts'

/** `POST /v1/encode`. Fails with `invalid_request` and `budget_too_small`. */
export const encodeOperation: Operation<EncodeRequest, EncodeAnswer> = {
  name: 'encode',
  request: encodeRequest,
  answer: encodeAnswer,
  facts: request => [factsOf(request)],
  run: encodeContent,
}

/**
 * `null` without a session, and for text with lone surrogates: it has no UTF-8 bytes of its own, so two
 * such texts could share an identity.
 */
function factsOf(request: EncodeRequest): Facts | null {
  const { session, content, tool_call_id, tool, file_path } = request
  if (session === undefined || !content.isWellFormed()) return null
  return {
    session,
    identity: hash('sha256', content, 'hex'),
    bytes: Buffer.byteLength(content),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    ...(tool === undefined ? {} : { tool }),
    ...(file_path === undefined ? {} : { file_path }),
  }
}
