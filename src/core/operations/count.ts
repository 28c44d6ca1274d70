import { AppError } from '../base/errors.ts'
import {
  type CountAnswer,
  type CountRequest,
  countAnswer,
  countRequest,
} from '../contract/count.ts'
import { resolveTokenizer } from '../tokens/profiles.ts'
import { contentLookup, withContent } from './kept-content.ts'
import type { Operation } from './operation.ts'

function checkCount({ content, contents, input_ref }: CountRequest): void {
  const given = [content, contents, input_ref].filter(each => each !== undefined)
  if (given.length === 1) return
  const message = 'exactly one of content, contents and input_ref is required'
  throw new AppError('invalid_request', message, { errors: [{ path: 'content', message }] })
}

/**
 * `POST /v1/count`. Fails with `invalid_request` if not exactly one of the contents is given.
 */
export const countOperation: Operation<CountRequest, CountAnswer> = {
  name: 'count',
  request: countRequest,
  answer: countAnswer,
  lookups(request) {
    checkCount(request)
    return [request.input_ref === undefined ? null : contentLookup(request)]
  },
  run(request, context) {
    checkCount(request)
    const { contents } = request
    const { content } = contents === undefined ? withContent(request, context) : request
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
