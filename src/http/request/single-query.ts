import { AppError } from '../../core/base/errors.ts'
import type { AppContext } from '../context.ts'

/**
 * The parameters of a query.
 * @throws AppError `invalid_request` for one that comes twice
 */
export function singleQuery(c: AppContext): Record<string, string> {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, [first = '', ...more]]) => {
      if (more.length > 0) throw new AppError('invalid_request', `${name}: is given twice`)
      return [name, first]
    }),
  )
}
