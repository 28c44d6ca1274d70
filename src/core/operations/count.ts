import { AppError } from '../base/errors.ts'
import {
  type CountAnswer,
  type CountRequest,
  countAnswer,
  countRequest,
} from '../contract/count.ts'
import { resolveTokenizer } from '../tokens/profiles.ts'
import type { Operation } from './operation.ts'

/**
 * `POST /v1/count`. Fails with `invalid_request` if not exactly one of the two contents is given.
 */
export const countOperation: Operation<CountRequest, CountAnswer> = {
  name: 'count',
  request: countRequest,
  answer: countAnswer,
  run(request, context) {
    const { content, contents } = request
    if ((content === undefined) === (contents === undefined)) {
      const message = 'exactly one of content and contents is required'
      throw new AppError('invalid_request', message, { errors: [{ path: 'content', message }] })
    }
    const counter = context.counters.get(resolveTokenizer(request))
    const counts = (contents ?? [content as string]).map(text => counter.count(text))
    const used = { tokenizer: counter.id, exact: counter.exact }
    return {
      answer:
        content === undefined ? { counts, ...used } : { tokens: counts[0] as number, ...used },
      reports: [],
    }
  },
}
