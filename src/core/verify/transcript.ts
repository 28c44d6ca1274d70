import { z } from 'zod'
import { AppError } from '../base/errors.ts'
import {
  type EncodeAnswer,
  type EncodeRequest,
  encodeAnswer,
  encodeRequest,
} from '../contract/encode.ts'
import { sessionField } from '../contract/fields.ts'
import { validate } from '../contract/validate.ts'

/** One call of `POST /v1/encode`. */
export interface Exchange {
  readonly request: EncodeRequest
  readonly answer: EncodeAnswer
}

/**
 * A call of which nothing fits its budget (`budget_too_small`): the agent made the call all the
 * same.
 */
export interface RefusedCall {
  readonly request: EncodeRequest
  readonly answer: null
}

/** An event of a session between two calls. */
export interface SessionEvent {
  readonly event: 'compaction' | 'close'
  readonly session: string
}

/** A line of a transcript; the lines stand in the order in which the answers were given. */
export type TranscriptEntry = Exchange | RefusedCall | SessionEvent

/** An entry, and its line in the file, counted from 1. */
export interface TranscriptLine {
  readonly line: number
  readonly entry: TranscriptEntry
}

const exchange = z.strictObject({ request: encodeRequest, answer: encodeAnswer })
const refusedCall = z.strictObject({ request: encodeRequest, answer: z.null() })
const sessionEvent = z.strictObject({
  event: z.enum(['compaction', 'close']),
  session: sessionField,
})

/**
 * Reads a transcript: JSON lines; blank ones are passed over.
 * @throws AppError `invalid_request` for the first line that is no entry
 */
export function parseTranscript(text: string): readonly TranscriptLine[] {
  const lines: TranscriptLine[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() !== '') lines.push({ line: index + 1, entry: parseEntry(line, index + 1) })
  }
  return lines
}

function parseEntry(text: string, line: number): TranscriptEntry {
  try {
    const entry: unknown = JSON.parse(text)
    const fields = Object(entry) as { event?: unknown; answer?: unknown }
    if (fields.event !== undefined) return validate(sessionEvent, entry)
    return fields.answer === null ? validate(refusedCall, entry) : validate(exchange, entry)
  } catch (error) {
    const reason = error instanceof AppError ? error.detail : 'is no JSON'
    throw new AppError('invalid_request', `line ${line}: ${reason}`)
  }
}
