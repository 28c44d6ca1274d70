import type { EncodeRequest } from '../contract/encode.ts'
import type { FormatHint, Hint, HintFamily } from '../hints/hint.ts'
import { nextPageCall } from '../hints/next-page-call.ts'
import type { HintGain, HintGate } from '../hints/policy.ts'

/** A hint as it is sent. */
export interface SentHint {
  readonly family: HintFamily
  readonly text: string
}

/** Notes on the result as a whole, before and after the content. */
export interface Notes {
  readonly before: readonly SentHint[]
  readonly after: readonly SentHint[]
}

/** The text that notes are about. */
interface WrittenText {
  readonly format: string
  /** The format that a reader expects of this endpoint, by name; `undefined` if none is known. */
  readonly usual: string | undefined
  /** Of the table that it is, if it is one. */
  readonly sizes?: Pick<FormatHint, 'rows' | 'columns'>
}

export const NO_NOTES: Notes = { before: [], after: [] }

/**
 * The notes that save tokens: figures that the provider reported for one page of many, the call for
 * the next page if it is certain, and the format if it is not the endpoint's usual one.
 */
export function notesFor(
  { query, pagination, sort, tool, args }: EncodeRequest,
  written: WrittenText,
  gain: HintGain,
  gate: HintGate,
): Notes {
  const before: SentHint[] = []
  const after: SentHint[] = []
  const { format, usual, sizes } = written
  if (usual !== undefined && !format.startsWith(`${usual}@`)) {
    admit({ family: 'format', format, ...sizes }, before)
  }
  if (pagination !== undefined) {
    const { total, returned, offset = 0 } = pagination
    const sorted = sort === undefined ? {} : { sort: { by: sort.by, order: sort.order } }
    const asked = query === undefined ? {} : { query }
    admit({ family: 'metadata', total, returned, ...asked, ...sorted }, before)
    const next = tool === undefined ? null : nextPageCall(tool, args, pageOf(pagination))
    if (next !== null) {
      admit({ family: 'overflow', omitted: total - offset - returned, ...next }, after)
    }
  }
  return before.length + after.length === 0 ? NO_NOTES : { before, after }

  function admit(hint: Hint, to: SentHint[]): void {
    const text = gate.admit(hint, gain)
    if (text !== null) to.push({ family: hint.family, text })
  }
}

function pageOf({ offset, next, ...rest }: NonNullable<EncodeRequest['pagination']>) {
  return {
    ...rest,
    ...(offset === undefined ? {} : { offset }),
    ...(next === undefined ? {} : { next }),
  }
}

/** The content between its notes, each a line of its own. */
export function annotate(content: string, { before, after }: Notes): string {
  return [...before.map(hint => hint.text), content, ...after.map(hint => hint.text)].join('\n')
}
