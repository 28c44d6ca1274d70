import type { EncodeAnswer } from '../contract/encode.ts'
import { withoutGaps } from '../formats/gaps.ts'
import type { HintFamily } from '../hints/hint.ts'
import { unmarkJson } from '../pipeline/json-marker.ts'
import { isTrimmed, labelOf, withoutNotes } from '../pipeline/wrapped-format.ts'
import { withoutChunkIndex } from '../reduce/trim/chunk-index.ts'

/** Hints beside a content, and their side; those of other families are in it. */
const BESIDE: { readonly [F in HintFamily]?: 'before' | 'after' } = {
  format: 'before',
  metadata: 'before',
  overflow: 'after',
  elision: 'after',
  search_chain: 'after',
}

/** A content without hints, and the items of each gap that was in its lists. */
interface AnswerBody {
  readonly content: string
  readonly format: string
  readonly gaps?: readonly number[]
}

/** Formats that write a row in place of items. */
const WITH_GAPS: ReadonlySet<string> = new Set(['csv', 'tree', 'toon', 'ndjson'])

/**
 * An answer's content without the hints beside it and the gaps in its lists, with the format of
 * that alone.
 * @returns `null` if the listed hints are not in their order around it, or the format names other
 * ones
 */
export function bodyOf({ content, format, hints, chunks = [] }: EncodeAnswer): AnswerBody | null {
  const inJson =
    isTrimmed(format) && hints.length === 1 ? unmarkJson(content, hints[0]!.text) : null
  if (inJson !== null) return { content: inJson, format: innerFormatOf(format) }
  const before = linesOf(hints, 'before').map(line => `${line}\n`)
  const after = linesOf(hints, 'after').map(line => `\n${line}`)
  const [head, tail] = [before.join(''), after.join('')]
  if (content.length < head.length + tail.length) return null
  if (!content.startsWith(head) || !content.endsWith(tail)) return null
  const inner = content.slice(head.length, content.length - tail.length)
  if (isTrimmed(format)) {
    const kept = chunks.length > 1 ? withoutChunkIndex(inner) : inner
    if (!WITH_GAPS.has(labelOf(format))) return { content: kept, format: innerFormatOf(format) }
    const { text, gaps } = withoutGaps(kept)
    return { content: text, format: innerFormatOf(format), gaps }
  }
  const unnoted = withoutNotes(content, format)
  return unnoted.content === inner ? unnoted : null
}

function innerFormatOf(format: string): string {
  return format.slice(format.indexOf(';') + 1)
}

function linesOf(hints: EncodeAnswer['hints'], place: 'before' | 'after'): string[] {
  return hints
    .filter(({ family }) => BESIDE[family as HintFamily] === place)
    .map(({ text }) => text)
}
