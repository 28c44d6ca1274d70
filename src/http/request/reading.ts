import { AppError } from '../../core/base/errors.ts'
import { READING_LEVELS, type ReadingLevel } from '../../core/reading/constructs.ts'
import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'

const HEADER = 'x-haversack-reading'

/**
 * The level of a request's header as a part of its terms. Proxies forward every request, so a
 * header that cannot be read has no effect there.
 */
export function readingTerm(c: AppContext): { readonly reading?: ReadingLevel } {
  const word = requestHeader(c, HEADER)?.trim().toLowerCase()
  const reading = READING_LEVELS.find(each => each === word)
  return reading === undefined ? {} : { reading }
}

/** The same for our own routes. @throws AppError `invalid_request` */
export function checkedReading(c: AppContext): ReturnType<typeof readingTerm> {
  const term = readingTerm(c)
  if (requestHeader(c, HEADER) === undefined || term.reading !== undefined) return term
  const message = `must be ${READING_LEVELS.join(', ')}`
  throw new AppError('invalid_request', `${HEADER}: ${message}`, {
    errors: [{ path: HEADER, message }],
  })
}
