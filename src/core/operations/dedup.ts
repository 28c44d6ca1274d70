import {
  type DedupAnswer,
  type DedupRequest,
  dedupAnswer,
  dedupRequest,
} from '../contract/sessions.ts'
import { dedupContent } from '../pipeline/dedup.ts'
import type { Operation } from './operation.ts'

/** `POST /v1/dedup`. Fails with `invalid_request` for an unknown tokenizer. */
export const dedupOperation: Operation<DedupRequest, DedupAnswer> = {
  name: 'dedup',
  request: dedupRequest,
  answer: dedupAnswer,
  sessions: ({ session }) => [session],
  run: dedupContent,
}
