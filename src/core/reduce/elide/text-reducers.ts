import { hasGutter, withoutNumber } from '../../formats/gutter/numbered-lines.ts'
import { hostBlocks } from '../../formats/host-blocks.ts'
import { startsLikeHint } from '../../hints/look-alikes.ts'
import { isDataText, isEmptyMember } from './data-text.ts'
import { bracesReducer, indentsReducer } from './reduce-code.ts'
import { diffReducer } from './reduce-diff.ts'
import { logReducer } from './reduce-log.ts'
import { isMarkdown, proseReducer } from './reduce-prose.ts'
import { isSearchWithContext, searchReducer } from './reduce-search.ts'
import {
  BULK,
  CRITICAL,
  type Ranking,
  type TextKind,
  type TextReducer,
  type TextView,
} from './reducer.ts'
import { severityOf } from './severity.ts'

/**
 * In the order in which they are asked (SOURCES.md#elision; a JSON list comes before all of them).
 */
const TEXT_REDUCERS: readonly TextReducer[] = [
  diffReducer,
  searchReducer,
  bracesReducer,
  indentsReducer,
  logReducer,
  proseReducer,
]

/** Kinds of source code, of which an outline stays. */
const CODE: ReadonlySet<TextKind> = new Set(['braces', 'indents'])

/** A text by its lines, and the rank of each line. */
export interface RankedText extends Ranking {
  readonly kind: TextKind
  readonly lines: readonly string[]
}

/**
 * Lines by which a long text's kind is recognised: so many at its start, in its middle and at its
 * end.
 */
const SAMPLE_LINES = 2_000

/**
 * Ranks the lines of a text by the first reducer that accepts it. Returns `null` for a text of no
 * kind; nothing of that is left out. A gutter of line numbers is ignored, but stays on the lines.
 * Lines that imitate hints of ours are bulk. Linear.
 */
export function rankText(text: string): RankedText | null {
  const lines = text.split('\n')
  const sample = sampleOf(lines)
  const isNumbered = hasGutter(sample)
  const seen = { lines: isNumbered ? sample.map(withoutNumber) : sample, chars: text.length }
  const reducer = reducerFor(seen)
  if (reducer === null) return null
  const bare = isNumbered ? lines.map(withoutNumber) : lines
  const ranking = reducer.rank({ lines: bare, chars: text.length })
  for (const [at, line] of bare.entries()) if (startsLikeHint(line)) ranking.ranks[at] = BULK
  // What a host says is no bulk of a tool.
  const inner = new Map(ranking.inner)
  for (const { from, end } of hostBlocks(text)) {
    ranking.ranks.fill(CRITICAL, from, end)
    for (let at = from; at < end; at++) inner.delete(at)
  }
  const moved = bare === lines ? inner : shifted(inner, lines, bare)
  return { ...ranking, inner: moved, kind: reducer.kind, lines }
}

/**
 * The lines of a text that report failures. Of a text of a kind, these are among its critical
 * lines, or counted.
 */
export function failureLines(text: string, ranked: RankedText | null): readonly number[] {
  const lines = ranked?.lines ?? text.split('\n')
  return [...lines.keys()].filter(at => {
    const line = lines[at]!
    if (ranked === null && isEmptyMember(line)) return false
    const mayReport =
      ranked === null || ranked.ranks[at] === CRITICAL || ranked.counted?.has(at) === true
    return mayReport && severityOf(line) === 'failure'
  })
}

function reducerFor(view: TextView): TextReducer | null {
  if (isSearchWithContext(view.lines)) return null
  const among = isMarkdown(view.lines) ? [diffReducer, proseReducer] : TEXT_REDUCERS
  const found = among.find(({ accepts }) => accepts(view)) ?? null
  return found !== null && CODE.has(found.kind) && isDataText(view.lines) ? null : found
}

function sampleOf(lines: readonly string[]): readonly string[] {
  if (lines.length <= 3 * SAMPLE_LINES) return lines
  const middle = (lines.length - SAMPLE_LINES) >> 1
  return [
    ...lines.slice(0, SAMPLE_LINES),
    ...lines.slice(middle, middle + SAMPLE_LINES),
    ...lines.slice(-SAMPLE_LINES),
  ]
}

/** Places inside of lines, counted with the gutter. */
function shifted(
  inner: NonNullable<Ranking['inner']>,
  lines: readonly string[],
  bare: readonly string[],
): NonNullable<Ranking['inner']> {
  const moved = [...inner].map(([line, gaps]) => {
    const by = lines[line]!.length - bare[line]!.length
    return [line, gaps.map(({ start, end }) => ({ start: start + by, end: end + by }))] as const
  })
  return new Map(moved)
}
