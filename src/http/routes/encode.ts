import { encodeAnswer, encodeRequest } from '../../core/contract/encode.ts'
import { jobRoute } from '../jobs/job-route.ts'

export const encodeRoute = jobRoute({
  path: '/v1/encode',
  op: 'encode',
  summary: 'Make one tool result smaller',
  scope: 'encode',
  request: encodeRequest,
  answer: encodeAnswer,
})
