import { withoutGutter } from './gutter.ts'
import { isMarkdown } from './markdown.ts'
import { bracesReducer } from './reduce-braces.ts'
import { diffReducer } from './reduce-diff.ts'
import { indentsReducer } from './reduce-indents.ts'
import { logReducer } from './reduce-log.ts'
import { proseReducer } from './reduce-prose.ts'
import { isSearchWithContext, searchReducer } from './reduce-search.ts'
import type { Ranking, TextKind, TextReducer } from './reducer.ts'

/** In the order in which they are asked (seed 004; a JSON list comes before all of them). */
const TEXT_REDUCERS: readonly TextReducer[] = [
  diffReducer,
  searchReducer,
  bracesReducer,
  indentsReducer,
  logReducer,
  proseReducer,
]

/** A text by its lines, and what each of them means. */
export interface RankedText extends Ranking {
  readonly kind: TextKind
  readonly lines: readonly string[]
}

/**
 * What the lines of a text mean, by the first reducer that accepts it; `null` for a text of no kind, of which nothing goes.
 * A gutter of line numbers does not count, but stays on the lines. Linear in the text.
 */
export function rankText(text: string): RankedText | null {
  const lines = text.split('\n')
  const bare = withoutGutter(lines)
  const view = { lines: bare, chars: text.length }
  if (isSearchWithContext(bare)) return null
  const among = isMarkdown(bare) ? [proseReducer] : TEXT_REDUCERS
  const reducer = among.find(({ accepts }) => accepts(view))
  if (reducer === undefined) return null
  const ranking = reducer.rank(view)
  return { ...ranking, ...shifted(ranking, lines, bare), kind: reducer.kind, lines }
}

/** Places inside of lines, counted with the gutter. */
function shifted(
  { inner }: Ranking,
  lines: readonly string[],
  bare: readonly string[],
): Pick<Ranking, 'inner'> {
  if (inner === undefined || bare === lines) return {}
  const moved = [...inner].map(([line, gaps]) => {
    const by = lines[line]!.length - bare[line]!.length
    return [line, gaps.map(({ start, end }) => ({ start: start + by, end: end + by }))] as const
  })
  return { inner: new Map(moved) }
}
