import { AppError } from '../base/errors.ts'
import type { DecodeAnswer } from '../contract/encode.ts'
import { findJsonFormat } from '../formats/json/registry.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { findTextFormat } from '../formats/text/registry.ts'
import { unescapeLookAlikes } from '../hints/escape.ts'
import { parseHint } from '../hints/hint-line.ts'
import { jsonLength, writeJson } from '../json/write-json.ts'
import { CHANGES_FORMAT } from '../sessions/near/changes-format.ts'
import {
  decodeReferences,
  referencesIn,
  refersToSession,
} from '../sessions/turn/decode-references.ts'
import { readStringLines } from '../sessions/turn/string-lines.ts'
import { markerInJson } from './json-marker.ts'
import { isTrimmed, linesWithin, withoutEscapes, withoutNotes } from './wrapped-format.ts'

/** The text of a session's earlier result by its id, `undefined` if there is none. */
export type ResolveReference = (ref: string) => string | undefined

/**
 * The content that an encoded text represents: compact JSON if the input was JSON, else the text
 * itself.
 * @param format the `format` of the encode answer
 * @param maxChars UTF-16 code units of JSON that are written at most. Formats that name a key once
 * for many rows let a short text represent a long one; a text of ours never represents more than
 * its input.
 * @param resolve for texts that refer to earlier results of their session
 * @throws AppError `not_decodable`, `payload_too_large`
 */
export function decodeContent(
  noted: string,
  notedAs: string,
  maxChars: number,
  resolve: ResolveReference = () => undefined,
): DecodeAnswer {
  const { content, format } = unwrapped(noted, notedAs)
  const lines = linesWithin(format)
  if (lines !== undefined || refersToSession(format)) {
    const { outer, inner } = lines ?? { outer: format, inner: PASSTHROUGH }
    const text = inner === PASSTHROUGH ? content : decodeContent(content, inner, maxChars).content
    const isJson = outer === CHANGES_FORMAT || readStringLines(outer) !== null
    return {
      content: decodeReferences(text, outer, resolve, maxChars),
      media_type: isJson ? 'application/json' : 'text/plain',
    }
  }
  if (format === PASSTHROUGH) return { content, media_type: 'text/plain' }
  if (isTrimmed(format)) throw lacksParts(content)
  const text = findTextFormat(format)
  if (text !== undefined) {
    return {
      content: text.format.decode(content, text.style, maxChars),
      media_type: text.format.json === true ? 'application/json' : 'text/plain',
    }
  }
  const json = findJsonFormat(format)
  if (json === undefined) {
    throw new AppError('not_decodable', 'the format is not one that this version writes')
  }
  const value = json.decode(content)
  if (jsonLength(value, maxChars) > maxChars) {
    throw new AppError('payload_too_large', `the decoded content is above ${maxChars} characters`)
  }
  return { content: writeJson(value), media_type: 'application/json' }
}

/** Removes what was added to a text last: notes, or escapes. */
function unwrapped(noted: string, notedAs: string): { content: string; format: string } {
  const whole = withoutNotes(noted, notedAs)
  const { format, kinds } = withoutEscapes(whole.format)
  if (kinds === undefined) return whole
  return { content: unescapeLookAlikes(whole.content, kinds), format }
}

/** A gutter that `numbered@1` leaves out has no more characters than this. */
const MAX_GROWTH = 16

/**
 * The ids that an encoded text refers to; none if it needs no other text.
 * @throws AppError `not_decodable`
 */
export function referencesOf(noted: string, notedAs: string): readonly string[] {
  const { content, format } = unwrapped(noted, notedAs)
  const within = linesWithin(format)
  if (within === undefined) return refersToSession(format) ? referencesIn(content, format) : []
  const { outer, inner } = within
  if (inner === PASSTHROUGH) return referencesIn(content, outer)
  // A look-alike of a reference may be content in the format around the lines.
  const lines = decodeContent(content, inner, MAX_GROWTH * (content.length + 1)).content
  return referencesIn(lines, outer)
}

/**
 * The error of a text with missing parts. It names where the rest is, by the text's last marker, as
 * a line or in JSON.
 */
function lacksParts(content: string): AppError {
  const line = markerInJson(content) ?? content.slice(content.lastIndexOf('\n') + 1)
  const marker = parseHint(line)
  const where = marker?.family === 'elision' ? `; all of it is at /v1/retrieve/${marker.hash}` : ''
  return new AppError('not_decodable', `parts of the content were left out${where}`)
}
