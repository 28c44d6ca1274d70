import { knapsackAnswer, knapsackRequest } from '../../core/contract/knapsack.ts'
import { jobRoute } from '../jobs/job-route.ts'

export const knapsackRoute = jobRoute({
  path: '/v1/knapsack',
  op: 'knapsack',
  summary: 'Solve a multiple-choice knapsack problem',
  scope: 'encode',
  request: knapsackRequest,
  answer: knapsackAnswer,
})
