import { batchAnswer, batchRequest } from '../../core/contract/batch.ts'
import { compressAnswer, compressRequest } from '../../core/contract/compress.ts'
import { countAnswer, countRequest } from '../../core/contract/count.ts'
import {
  decodeAnswer,
  decodeRequest,
  encodeAnswer,
  encodeRequest,
} from '../../core/contract/encode.ts'
import { writeEnvelope } from '../../core/contract/envelope.ts'
import { HASH_DIGITS } from '../../core/contract/fields.ts'
import { inputsAnswer, inputsRequest } from '../../core/contract/kept-contents.ts'
import { knapsackAnswer, knapsackRequest } from '../../core/contract/knapsack.ts'
import { planAnswer, planRequest } from '../../core/contract/plan.ts'
import type { RequestTerms } from '../../core/contract/request-terms.ts'
import type { JobDeps } from '../context.ts'
import { type JobRoute, jobRoute } from '../jobs/job-route.ts'
import { checkedReading, checkedResponseBudget, isBypassed } from '../request/request-terms.ts'
import type { Route } from './route.ts'

const NO_TERMS: RequestTerms = { redeems: false, bypass: false }

/** What the worker threads run: the operation, its path, its schemas. */
const JOBS: readonly JobRoute[] = [
  {
    op: 'encode',
    path: '/v1/encode',
    summary: 'Make one tool result smaller',
    scope: 'encode',
    request: encodeRequest,
    answer: encodeAnswer,
    terms: c => ({ ...NO_TERMS, ...checkedResponseBudget(c), ...checkedReading(c) }),
  },
  {
    op: 'decode',
    path: '/v1/decode',
    summary: 'Decode an encoded text',
    scope: 'encode',
    request: decodeRequest,
    answer: decodeAnswer,
  },
  {
    op: 'count',
    path: '/v1/count',
    summary: 'Count tokens',
    scope: 'encode',
    request: countRequest,
    answer: countAnswer,
  },
  {
    op: 'knapsack',
    path: '/v1/knapsack',
    summary: 'Solve a multiple-choice knapsack problem',
    scope: 'encode',
    request: knapsackRequest,
    answer: knapsackAnswer,
  },
  {
    op: 'plan',
    path: '/v1/plan',
    summary: 'Choose calls that are worth making before the model asks for them',
    scope: 'encode',
    request: planRequest,
    answer: planAnswer,
    terms: (_, { planning }) => ({
      ...NO_TERMS,
      ...(planning === undefined ? {} : { planning: planning() }),
    }),
  },
  {
    op: 'batch',
    path: '/v1/batch',
    summary: 'Several jobs in one request, in order',
    scope: 'encode',
    request: batchRequest,
    answer: batchAnswer,
    terms: c => ({ ...NO_TERMS, ...checkedResponseBudget(c), ...checkedReading(c) }),
  },
  {
    // The contract that gateways call before they forward a conversation to its model.
    op: 'compress',
    path: '/v1/compress',
    summary: 'Make the tool results of a conversation smaller',
    scope: 'encode',
    request: compressRequest,
    answer: compressAnswer,
    terms: c => ({
      redeems: c.get('state').caller.redeems,
      references: c.get('state').caller.references,
      bypass: isBypassed(c),
      ...checkedResponseBudget(c),
      ...checkedReading(c),
    }),
  },
  {
    // The content is read in a worker and kept in the store; the answer reports for how long.
    op: 'inputs',
    path: '/v1/inputs',
    summary: 'Keep one large input that several requests share',
    scope: 'encode',
    request: inputsRequest,
    answer: inputsAnswer,
    kept: ([kept], accept) => {
      if (kept === undefined) throw new Error('nothing was kept')
      const { hash, bytes, expires_at } = kept
      return writeEnvelope({ input_ref: hash.slice(0, HASH_DIGITS), bytes, expires_at }, accept)
    },
  },
]

export const JOB_ROUTES: readonly Route<JobDeps>[] = JOBS.map(jobRoute)
