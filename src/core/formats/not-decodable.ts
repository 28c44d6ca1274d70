import { AppError } from '../base/errors.ts'

/**
 * The error of a decoder that cannot go on at `offset` of `text`. It names the line, never the
 * content, which may be private.
 */
export function notDecodable(text: string, offset: number, reason: string): AppError {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++
  }
  return new AppError('not_decodable', `line ${line}: ${reason}`)
}
