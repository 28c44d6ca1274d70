import type { EncodeRequest } from '../contract/encode.ts'
import { RETRIEVE_TOOL } from '../contract/retrieve-tool.ts'
import type { FormatHint, Hint, HintFamily } from '../hints/hint.ts'
import { nextPageCall } from '../hints/next-page-call.ts'
import { CHAIN_CALLS, CHAIN_SEARCHES, type HintGain, type HintGate } from '../hints/policy.ts'

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
  /** The sizes of the table that it is, if it is one. */
  readonly sizes?: Pick<FormatHint, 'rows' | 'columns'>
  readonly searches?: Searches
}

/** What a note on a search chain may say. */
export interface Searches {
  /** Searches among the last `CHAIN_CALLS` calls. */
  readonly count: number
  /** Tokens of this answer: what another search of its kind takes. */
  readonly tokens: number
}

export const NO_NOTES: Notes = { before: [], after: [] }

/**
 * The notes that save tokens: figures that the provider reported for one page of many, the call for
 * the next page if it is certain, the format if it is not the endpoint's usual one, and that most
 * of the last calls were searches. An original that is given back has none: later requests have it
 * again, and there a note would be escaped as content.
 */
export function notesFor(
  { query, pagination, sort, tool, args }: EncodeRequest,
  written: WrittenText,
  gain: HintGain,
  gate: HintGate,
): Notes {
  const before: SentHint[] = []
  const after: SentHint[] = []
  if (tool === RETRIEVE_TOOL) return NO_NOTES
  const { format, usual, sizes, searches } = written
  if (usual !== undefined && !format.startsWith(`${usual}@`)) {
    admit({ family: 'format', format, ...sizes }, before)
  }
  if (pagination !== undefined) {
    const { total, returned, offset = 0 } = pagination
    const sorted = sort === undefined ? {} : { sort: { by: sort.by, order: sort.order } }
    const asked = query === undefined ? {} : { query }
    admit({ family: 'metadata', total, returned, ...asked, ...sorted }, before)
    const next = tool === undefined ? null : nextPageCall(tool, args, pagination)
    if (next !== null) {
      admit({ family: 'overflow', omitted: total - offset - returned, ...next }, after)
    }
  }
  if (searches !== undefined && searches.count >= CHAIN_SEARCHES) {
    const { count, tokens } = searches
    const hint = { family: 'search_chain', searches: count, of: CHAIN_CALLS } as const
    // At most what this answer saved, so that it stays smaller than what the tool returned.
    admit(hint, after, { ...gain, saved_tokens: Math.min(gain.saved_tokens, tokens) })
  }
  return before.length + after.length === 0 ? NO_NOTES : { before, after }

  function admit(hint: Hint, to: SentHint[], by = gain): void {
    const text = gate.admit(hint, by)
    if (text !== null) to.push({ family: hint.family, text })
  }
}

/** The content between its notes, each a line of its own. */
export function annotate(content: string, { before, after }: Notes): string {
  return [...before.map(hint => hint.text), content, ...after.map(hint => hint.text)].join('\n')
}
