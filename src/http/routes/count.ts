import { countAnswer, countRequest } from '../../core/requests/count.ts'
import { jobRoute } from '../job-route.ts'

export const countRoute = jobRoute({
  path: '/v1/count',
  op: 'count',
  summary: 'Count tokens',
  scope: 'encode',
  request: countRequest,
  answer: countAnswer,
})
