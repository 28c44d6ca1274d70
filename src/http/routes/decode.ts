import { decodeAnswer, decodeRequest } from '../../core/contract/decode.ts'
import { jobRoute } from '../jobs/job-route.ts'

export const decodeRoute = jobRoute({
  path: '/v1/decode',
  op: 'decode',
  summary: 'Turn an encoded text back into what it stands for',
  scope: 'encode',
  request: decodeRequest,
  answer: decodeAnswer,
})
