import { compressAnswer, compressRequest } from '../../core/requests/compress.ts'
import { type AppContext, requestHeader } from '../context.ts'
import { jobRoute } from '../job-route.ts'

/** The contract that gateways call before they forward a conversation to its model. */
export const compressRoute = jobRoute({
  path: '/v1/compress',
  op: 'compress',
  summary: 'Make the tool results of a conversation smaller',
  scope: 'encode',
  request: compressRequest,
  answer: compressAnswer,
  terms: c => ({ redeems: c.get('frame').caller.redeems, bypass: isBypassed(c) }),
})

/** Our header, and the one that gateways send. */
const BYPASS_HEADERS = ['x-haversack-bypass', 'x-headroom-bypass'] as const

function isBypassed(c: AppContext): boolean {
  return BYPASS_HEADERS.some(name => requestHeader(c, name)?.trim().toLowerCase() === 'true')
}
