import { AppError } from '../base/errors.ts'

/** The refusal of a part; `path` is the name of the query parameter. */
export function invalidPart(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}
