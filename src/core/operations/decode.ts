import { AppError } from '../base/errors.ts'
import { toText } from '../base/text-bytes.ts'
import {
  type DecodeAnswer,
  type DecodeRequest,
  decodeAnswer,
  decodeRequest,
} from '../contract/encode.ts'
import type { LookupRequest, LookupResult } from '../contract/lookup.ts'
import { decodeContent, type ResolveReference, referencesOf } from '../pipeline/decode.ts'
import type { Operation } from './operation.ts'

/**
 * `POST /v1/decode`. Fails with `not_decodable` and `payload_too_large`. With a session it also
 * fails with the code of a failed lookup of a reference.
 */
export const decodeOperation: Operation<DecodeRequest, DecodeAnswer> = {
  name: 'decode',
  request: decodeRequest,
  answer: decodeAnswer,
  lookups: request => [lookupOf(request)],
  run: ({ content, format }, { maxDecodedChars, resolutions }) => ({
    answer: decodeContent(content, format, maxDecodedChars, resolverOf(resolutions?.[0])),
    reports: [],
  }),
}

/** The references of a text that has a meaning in its session only. */
function lookupOf({ content, format, session }: DecodeRequest): LookupRequest | null {
  if (session === undefined) return null
  const refs = referencesOf(content, format)
  return refs.length === 0 ? null : { references: { session, refs } }
}

/** @throws AppError if the references could not be looked for */
function resolverOf(resolution: LookupResult | null | undefined): ResolveReference {
  const problem = resolution?.problem
  if (problem !== undefined) throw AppError.of(problem)
  const texts = resolution?.texts ?? {}
  return ref => (Object.hasOwn(texts, ref) ? toText(texts[ref]!) : undefined)
}
