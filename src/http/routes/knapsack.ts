import { knapsackAnswer, knapsackRequest } from '../../core/requests/knapsack.ts'
import { jobRoute } from '../job-route.ts'

export const knapsackRoute = jobRoute({
  path: '/v1/knapsack',
  op: 'knapsack',
  summary: 'Solve a multiple-choice knapsack problem',
  scope: 'encode',
  request: knapsackRequest,
  answer: knapsackAnswer,
})
