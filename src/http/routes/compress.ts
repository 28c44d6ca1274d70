import { compressAnswer, compressRequest } from '../../core/contract/compress.ts'
import { jobRoute } from '../jobs/job-route.ts'
import { isBypassed } from '../request/bypass.ts'

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
