import { formatLabel } from '../formats/text/text-format.ts'
import {
  type FormatHint,
  type Hint,
  type MetadataHint,
  type OverflowHint,
  VERBOSITIES,
} from '../hints/hint.ts'
import { nextPageCall, type Pagination } from '../hints/next-page-call.ts'
import { hintLine } from '../hints/render-hint.ts'
import { withoutEscapes } from '../pipeline/wrapped-format.ts'
import { bodyOf } from './answer-body.ts'
import type { CheckedAnswer } from './checked-answer.ts'

/** Metadata: what the request states of the result, and only if there is more. */
export function wrongMetadata(
  hint: MetadataHint,
  line: string,
  { request }: CheckedAnswer,
): string | null {
  const { pagination, query, sort } = request
  if (pagination === undefined) return 'the request says nothing of a total'
  const { total, returned } = pagination
  if (hint.total !== total) return `the total is ${total}, not ${hint.total}`
  if (hint.returned !== returned) return `${returned} were returned, not ${hint.returned}`
  if (total <= returned) return 'nothing more exists than was returned'
  const facts: MetadataHint = {
    family: 'metadata',
    total,
    returned,
    ...(query === undefined ? {} : { query }),
    ...(sort === undefined ? {} : { sort: { by: sort.by, order: sort.order } }),
  }
  return isLineOf(facts, line) ? null : 'query or order are not those of the request'
}

/**
 * Overflow: as many as are left, and the very call that the request's arguments and pagination
 * show.
 */
export function wrongOverflow(
  hint: OverflowHint,
  line: string,
  { request }: CheckedAnswer,
): string | null {
  const { pagination, tool, args } = request
  if (pagination === undefined || tool === undefined) {
    return 'the request says nothing of further pages'
  }
  const { total, returned, offset = 0 } = pagination
  const left = total - offset - returned
  if (hint.omitted !== left) return `${left} more exist, not ${hint.omitted}`
  const next = nextPageCall(tool, args, pageOf(pagination))
  if (next === null) return 'arguments and pagination do not show how the tool pages'
  const { unit } = hint
  const facts: OverflowHint = {
    family: 'overflow',
    omitted: left,
    ...(unit === undefined ? {} : { unit }),
    ...next,
  }
  return isLineOf(facts, line) ? null : 'the call does not give the next page'
}

/** Format: the one that the content is written in. */
export function wrongFormat(hint: FormatHint, { answer }: CheckedAnswer): string | null {
  const format = bodyOf(answer)?.format ?? answer.format
  const label = formatLabel(withoutEscapes(format).format)
  return formatLabel(hint.format) === label ? null : `the content is written in ${label}`
}

function isLineOf(facts: Hint, line: string): boolean {
  return VERBOSITIES.some(verbosity => hintLine(facts, verbosity) === line)
}

function pageOf({
  offset,
  next,
  ...rest
}: NonNullable<CheckedAnswer['request']['pagination']>): Pagination {
  return {
    ...rest,
    ...(offset === undefined ? {} : { offset }),
    ...(next === undefined ? {} : { next }),
  }
}
