import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'

/**
 * The project whose configuration a request asks for: that of its key, which the client cannot
 * leave, else the one that its header names. An unknown name has no effect.
 */
export function projectTerm(c: AppContext): { readonly project?: string } {
  const project = c.get('state').caller.project ?? requestHeader(c, 'x-haversack-project')
  return project === undefined ? {} : { project }
}
