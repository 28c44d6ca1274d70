import { batchAnswer, batchRequest } from '../../core/contract/batch.ts'
import { jobRoute } from '../jobs/job-route.ts'

export const batchRoute = jobRoute({
  path: '/v1/batch',
  op: 'batch',
  summary: 'Several jobs in one request, in order',
  scope: 'encode',
  request: batchRequest,
  answer: batchAnswer,
})
