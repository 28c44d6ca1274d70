import { AppError } from '../base/errors.ts'
import {
  type CountAnswer,
  type CountRequest,
  countAnswer,
  countRequest,
} from '../contract/count.ts'
import type { TokenCounter } from '../tokens/counter.ts'
import type { TokenCounters } from '../tokens/counters.ts'
import { resolveTokenizer } from '../tokens/profiles.ts'
import { REFERENCE_ENCODINGS } from '../tokens/reference-counter.ts'
import { contentLookup, withContent } from './kept-content.ts'
import type { Operation } from './operation.ts'

function checkCount({ content, contents, input_ref }: CountRequest): void {
  const given = [content, contents, input_ref].filter(each => each !== undefined)
  if (given.length === 1) return
  const message = 'exactly one of content, contents and input_ref is required'
  throw new AppError('invalid_request', message, { errors: [{ path: 'content', message }] })
}

function counterFor(request: CountRequest, counters: TokenCounters): TokenCounter {
  const encoding = REFERENCE_ENCODINGS.find(name => name === request.tokenizer)
  const reference = encoding && counters.reference?.(encoding)
  return reference ?? counters.get(resolveTokenizer(request))
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
    const counter = counterFor(request, context.counters)
    const counts = (contents ?? [content as string]).map(text => counter.count(text))
    const used = { tokenizer: counter.id, exact: counter.exact }
    return {
      answer:
        content === undefined ? { counts, ...used } : { tokens: counts[0] as number, ...used },
      reports: [],
    }
  },
}
