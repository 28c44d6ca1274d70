import { AppError } from '../../base/errors.ts'

/** The error of a text that represents more than a caller may ask to be written. */
export function decodedTooLong(maxChars: number): AppError {
  return new AppError('payload_too_large', `the decoded content is above ${maxChars} characters`)
}
