import { decodeContent } from '../pipeline/decode.ts'
import {
  type DecodeAnswer,
  type DecodeRequest,
  decodeAnswer,
  decodeRequest,
} from '../requests/decode.ts'
import type { Operation } from './operation.ts'

/** `POST /v1/decode`. Fails with `not_decodable`, `payload_too_large`. */
export const decodeOperation: Operation<DecodeRequest, DecodeAnswer> = {
  name: 'decode',
  request: decodeRequest,
  answer: decodeAnswer,
  run: (request, { maxDecodedChars }) => ({
    answer: decodeContent(request.content, request.format, maxDecodedChars),
    reports: [],
  }),
}
