import { AppError } from '../../core/base/errors.ts'
import { type ResponseBudget, readResponseBudget } from '../../core/contract/response-budget.ts'
import { READING_LEVELS, type ReadingLevel } from '../../core/reading/constructs.ts'
import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'

const READING_HEADER = 'x-haversack-reading'

/**
 * The level of a request's header as a part of its terms. Proxies forward every request, so a
 * header that cannot be read has no effect there.
 */
export function readingTerm(c: AppContext): { readonly reading?: ReadingLevel } {
  const word = requestHeader(c, READING_HEADER)?.trim().toLowerCase()
  const reading = READING_LEVELS.find(each => each === word)
  return reading === undefined ? {} : { reading }
}

/** The same for our own routes. @throws AppError `invalid_request` */
export function checkedReading(c: AppContext): ReturnType<typeof readingTerm> {
  const term = readingTerm(c)
  if (requestHeader(c, READING_HEADER) === undefined || term.reading !== undefined) return term
  const message = `must be ${READING_LEVELS.join(', ')}`
  throw new AppError('invalid_request', `${READING_HEADER}: ${message}`, {
    errors: [{ path: READING_HEADER, message }],
  })
}

/** Our header, and the one that gateways send. */
const BYPASS_HEADERS = ['x-haversack-bypass', 'x-headroom-bypass'] as const

/** Whether the client asks to leave everything of this request unchanged. */
export function isBypassed(c: AppContext): boolean {
  return BYPASS_HEADERS.some(name => requestHeader(c, name)?.trim().toLowerCase() === 'true')
}

/**
 * The project whose configuration a request asks for: that of its key, which the client cannot
 * leave, else the one that its header names. An unknown name has no effect.
 */
export function projectTerm(c: AppContext): { readonly project?: string } {
  const project = c.get('state').caller.project ?? requestHeader(c, 'x-haversack-project')
  return project === undefined ? {} : { project }
}

const BUDGET_HEADER = 'x-haversack-response-budget'

/**
 * The wish of a request's header as a part of its terms: a level, or tokens. Proxies forward every
 * request, so a header that cannot be read is no wish there.
 */
export function responseBudgetTerm(c: AppContext): { readonly responseBudget?: ResponseBudget } {
  const header = requestHeader(c, BUDGET_HEADER)
  const wish = header === undefined ? null : readResponseBudget(header)
  return wish === null ? {} : { responseBudget: wish }
}

/** The same for our own routes. @throws AppError `invalid_request` */
export function checkedResponseBudget(c: AppContext): ReturnType<typeof responseBudgetTerm> {
  const term = responseBudgetTerm(c)
  if (requestHeader(c, BUDGET_HEADER) === undefined || term.responseBudget !== undefined)
    return term
  const message = 'must be full, standard, compact or a number of tokens'
  throw new AppError('invalid_request', `${BUDGET_HEADER}: ${message}`, {
    errors: [{ path: BUDGET_HEADER, message }],
  })
}
