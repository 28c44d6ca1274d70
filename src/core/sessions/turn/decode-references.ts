import { AppError } from '../../base/errors.ts'
import { notDecodable } from '../../formats/not-decodable.ts'
import { parseHint } from '../../hints/hint-line.ts'
import { decodeLines } from '../lines/decode-lines.ts'
import { readReference } from '../lines/reference-line.ts'
import { CHANGES_FORMAT, decodeChanges, refOfChanges } from '../near/changes-format.ts'
import { restoreNear } from '../near/find-changes.ts'
import { foldStrings, readStringLines } from './string-lines.ts'

/**
 * Formats of answers that refer to earlier results: their content means something in its session
 * only.
 */
export const REFERENCE_FORMAT = 'ref@1'
export const NEAR_FORMAT = 'near@1'
export const LINES_FORMAT = 'lines@1'

/** Earlier results that one answer refers to, at most. */
export const MAX_REFERENCES = 1_000

/** Whether texts of a format refer to earlier results of their session. */
export function refersToSession(format: string): boolean {
  const isWhole = format === REFERENCE_FORMAT || format === NEAR_FORMAT
  return isWhole || format === CHANGES_FORMAT || hasLines(format)
}

/** Whether such a text has references to lines. */
function hasLines(format: string): boolean {
  return format === LINES_FORMAT || readStringLines(format) !== null
}

/**
 * The ids that a text refers to, each once, in their order.
 * @throws AppError `not_decodable` for more than an answer refers to
 */
export function referencesIn(content: string, format: string): readonly string[] {
  const changed = format === CHANGES_FORMAT ? refOfChanges(content) : undefined
  if (changed !== undefined) return [changed]
  const refs = new Set<string>()
  const isOfLines = hasLines(format)
  for (const line of isOfLines ? content.split('\n') : [content]) {
    const ref = isOfLines ? readReference(line)?.ref : refOf(line)
    if (ref !== undefined) refs.add(ref)
    if (refs.size > MAX_REFERENCES) {
      throw new AppError('not_decodable', `more than ${MAX_REFERENCES} earlier results`)
    }
  }
  return [...refs]
}

function refOf(line: string): string | undefined {
  const hint = parseHint(line)
  return hint?.family === 'reference' || hint?.family === 'near_reference' ? hint.ref : undefined
}

/**
 * The text that an answer with references represents.
 * @param resolve returns the text of the session's earlier result with this id, `undefined` if
 * there is none
 * @param maxChars UTF-16 code units that are written at most
 * @throws AppError `not_decodable` with what is missing; `payload_too_large`
 */
export function decodeReferences(
  content: string,
  format: string,
  resolve: (ref: string) => string | undefined,
  maxChars: number,
): string {
  if (format === CHANGES_FORMAT) return decodeChanges(content, resolve, maxChars)
  if (format === LINES_FORMAT) return decodeLines(content, resolve, maxChars)
  if (readStringLines(format) !== null) {
    // Names and headings of the texts add to them, and escapes of JSON do not.
    const text = decodeLines(content, resolve, maxChars + content.length)
    return foldStrings(text, format, maxChars)
  }
  const hint = parseHint(content)
  const isNear = format === NEAR_FORMAT
  if (hint?.family !== (isNear ? 'near_reference' : 'reference')) {
    throw notDecodable(content, 0, 'a reference expected')
  }
  const text = resolve(hint.ref)
  if (text === undefined) throw notDecodable(content, 0, `no earlier result ${hint.ref}`)
  return hint.family === 'near_reference' ? restoreNear(text, hint.changes) : text
}
