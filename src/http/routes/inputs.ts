import { writeEnvelope } from '../../core/contract/envelope.ts'
import { HASH_DIGITS } from '../../core/contract/fields.ts'
import { inputsAnswer, inputsRequest } from '../../core/contract/inputs.ts'
import { jobRoute } from '../jobs/job-route.ts'

/** The content is read in a worker and kept in the store; the answer says for how long. */
export const inputsRoute = jobRoute({
  path: '/v1/inputs',
  op: 'inputs',
  summary: 'Keep one large input that several requests share',
  scope: 'encode',
  request: inputsRequest,
  answer: inputsAnswer,
  kept: ([kept], accept) => {
    if (kept === undefined) throw new Error('nothing was kept')
    const { hash, bytes, expires_at } = kept
    return writeEnvelope({ input_ref: hash.slice(0, HASH_DIGITS), bytes, expires_at }, accept)
  },
})
