import { toBytes } from '../../base/text-bytes.ts'
import type { KeepItem } from '../../contract/operation-result.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import { lineCount } from '../../formats/gutter/printed-lines.ts'
import { decisiveArgument } from '../../hints/earlier-call.ts'
import type { Verbosity } from '../../hints/hint.ts'
import { hintLine } from '../../hints/hint-line.ts'
import { literalOf } from '../../json/bytes/splice.ts'
import { originalId } from '../../pipeline/within-budget.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import type { StoredRewrite } from './stored-rewrite.ts'

/** A stub in place of a cleared result, with the original to keep. */
export interface Stub extends StoredRewrite {
  readonly keep: readonly KeepItem[]
}

/**
 * The line that replaces a result of which nothing stays: its call, its lines, and its hash. `null`
 * if no hint can say so, or the text is not UTF-8.
 * @param before how it was sent until now
 */
export function stubFor(
  result: ToolResultText,
  before: Pick<StoredRewrite, 'saved'>,
  { counter, verbosity }: { readonly counter: TokenCounter; readonly verbosity: Verbosity },
): Stub | null {
  const text = result.text()
  if (!text.isWellFormed()) return null
  const original = toBytes(text)
  const hash = originalId(original)
  const argument = decisiveArgument(result.args())
  const summary = `${result.tool}${argument === undefined ? '' : ` ${argument}`}`
  const parts = [{ unit: 'lines', omitted: lineCount(text.split('\n')) }]
  const line = hintLine({ family: 'elision', hash, parts, summary }, verbosity)
  if (line === null) return null
  const { encoded } = before.saved
  const elided = Math.max(0, counter.count(text) - encoded - counter.count(line))
  return {
    literal: literalOf(line),
    saved: { referred: 0, encoded, elided },
    isSource: false,
    markers: [hash],
    digest: 0,
    sent: 0,
    keep: [original],
  }
}
