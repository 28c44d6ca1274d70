import { decodeAnswer, decodeRequest } from '../../core/requests/decode.ts'
import { jobRoute } from '../job-route.ts'

export const decodeRoute = jobRoute({
  path: '/v1/decode',
  op: 'decode',
  summary: 'Turn an encoded text back into what it stands for',
  scope: 'encode',
  request: decodeRequest,
  answer: decodeAnswer,
})
