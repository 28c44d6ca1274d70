import { dedupAnswer, dedupRequest } from '../../core/contract/dedup.ts'
import { jobRoute } from '../jobs/job-route.ts'

export const dedupRoute = jobRoute({
  path: '/v1/dedup',
  op: 'dedup',
  summary: 'Whether a session has seen a result already; records it',
  scope: 'encode',
  request: dedupRequest,
  answer: dedupAnswer,
})
