import type { Origin } from '../../book/rows/day-sums.ts'
import { AGENT_PROGRAMS } from '../../core/base/agent-programs.ts'
import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'
import { projectTerm } from './request-terms.ts'

/** The name of a product in a user agent (RFC 9110 §10.1.5). */
const PRODUCT = /^[\w.-]{1,32}/

/** Where a request came from, as its headers say. */
export function originOf(c: AppContext): Origin {
  return { ...projectTerm(c), ...agentOf(requestHeader(c, 'user-agent')) }
}

/** @param userAgent the header; absent: nothing is known */
export function agentOf(userAgent = ''): Pick<Origin, 'agent' | 'client'> {
  const agent = AGENT_PROGRAMS.find(each => each.userAgent.test(userAgent))?.name
  if (agent !== undefined) return { agent }
  const client = PRODUCT.exec(userAgent)?.[0].toLowerCase()
  return client === undefined ? {} : { client }
}
