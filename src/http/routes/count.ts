import { countAnswer, countRequest } from '../../core/contract/count.ts'
import { jobRoute } from '../jobs/job-route.ts'

export const countRoute = jobRoute({
  path: '/v1/count',
  op: 'count',
  summary: 'Count tokens',
  scope: 'encode',
  request: countRequest,
  answer: countAnswer,
})
