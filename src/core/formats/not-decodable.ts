import { AppError } from '../base/errors.ts'

/**
 * The error of a decoder that cannot continue at `offset` of `text`. It names the line, never the
 * content, which may be private.
 */
export function notDecodable(text: string, offset: number, reason: string): AppError {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++
  }
  return new AppError('not_decodable', `line ${line}: ${reason}`)
}

/** The error of a text that represents more than a caller may ask to be written. */
export function decodedTooLong(maxChars: number): AppError {
  return new AppError('payload_too_large', `the decoded content is above ${maxChars} characters`)
}
