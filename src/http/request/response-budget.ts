import { AppError } from '../../core/base/errors.ts'
import { type ResponseBudget, readResponseBudget } from '../../core/contract/response-budget.ts'
import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'

const HEADER = 'x-haversack-response-budget'

/**
 * The wish of a request's header as a part of its terms: a level, or tokens. Proxies forward every
 * request, so a header that cannot be read is no wish there.
 */
export function responseBudgetTerm(c: AppContext): { readonly responseBudget?: ResponseBudget } {
  const header = requestHeader(c, HEADER)
  const wish = header === undefined ? null : readResponseBudget(header)
  return wish === null ? {} : { responseBudget: wish }
}

/** The same for our own routes. @throws AppError `invalid_request` */
export function checkedResponseBudget(c: AppContext): ReturnType<typeof responseBudgetTerm> {
  const term = responseBudgetTerm(c)
  if (requestHeader(c, HEADER) === undefined || term.responseBudget !== undefined) return term
  const message = 'must be full, standard, compact or a number of tokens'
  throw new AppError('invalid_request', `${HEADER}: ${message}`, {
    errors: [{ path: HEADER, message }],
  })
}
