import { compressAnswer, compressRequest } from '../../core/requests/compress.ts'
import { isBypassed } from '../bypass.ts'
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
