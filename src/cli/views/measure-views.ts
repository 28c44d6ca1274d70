import { NumberLiteral, ObjectValue, type Value } from '../../core/json/value.ts'
import { encodeOperation } from '../../core/operations/encode.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import { resolveProfile } from '../../core/pipeline/profile/resolve.ts'
import { readInput } from '../../core/pipeline/read-input.ts'
import { viewOf } from '../../core/pipeline/view.ts'
import { pruneValue } from '../../core/reduce/budget/prune-value.ts'
import type { RecordedResult } from '../../lab/replay/read-results.ts'

/** What one view did to the results that it fits, in tokens. */
export interface ViewFigures {
  results: number
  /** The input. */
  before: number
  lossless: number
  standard: number
  compact: number
  /** Results of sessions of which a later call quotes a hidden value. */
  inSessions: number
  neededLater: number
  /** Names of fields that go, and how often. */
  readonly goes: Map<string, number>
}

/** A view hides something that later calls quote. */
interface HiddenValues {
  readonly figures: ViewFigures
  readonly hidden: ReadonlySet<string>
}

/** Results of one session whose hidden values are looked for; the oldest is dropped. */
const MAX_WAITING = 200

/**
 * Plays recorded results at each level, and counts how often a later call of the same session
 * quotes a value that the level `compact` hid.
 */
export function measureViews(
  results: Iterable<RecordedResult>,
  context: OperationContext,
): ReadonlyMap<string, ViewFigures> {
  const byView = new Map<string, ViewFigures>()
  let session: string | undefined
  let waiting: HiddenValues[] = []
  for (const result of results) {
    if (result.session !== session) waiting = []
    session = result.session
    const quotes = quotesOf(result.args)
    waiting = waiting.filter(({ figures, hidden }) => {
      const isQuoted = [...quotes].some(quote => hidden.has(quote))
      if (isQuoted) figures.neededLater++
      return !isQuoted
    })
    const found = result.is_error === true ? null : measureOne(result, context, byView)
    if (found === null || session === undefined) continue
    found.figures.inSessions++
    waiting.push(found)
    if (waiting.length > MAX_WAITING) waiting.shift()
  }
  return byView
}

function measureOne(
  { text, tool, args }: RecordedResult,
  context: OperationContext,
  byView: Map<string, ViewFigures>,
): HiddenValues | null {
  if (!/^\s*[[{]/.test(text)) return null
  const request = { content: text, tool, ...(args === undefined ? {} : { args }) }
  const { views } = resolveProfile(context.pipeline, { response_budget: 'compact', tool }).view
  const input = readInput(request, context)
  const shown = viewOf(input, 'compact', views)
  if (shown === null || input.value === undefined) return null
  const compact = encodeOperation.run({ ...request, response_budget: 'compact' }, context).answer
  if (compact.view === undefined) return null
  const figures = byView.get(compact.view) ?? createFigures()
  byView.set(compact.view, figures)
  const at = (response_budget: 'full' | 'standard') =>
    encodeOperation.run({ ...request, response_budget }, context).answer.tokens.final
  figures.results++
  figures.before += compact.tokens.baseline
  figures.lossless += at('full')
  figures.standard += at('standard')
  figures.compact += compact.tokens.final
  for (const [name, count] of shown.names) {
    figures.goes.set(name, (figures.goes.get(name) ?? 0) + count)
  }
  return { figures, hidden: hiddenBy(input.value, pruneValue(input.value, shown.kept).value) }
}

/** Values that are in the whole and nowhere in the rest. */
function hiddenBy(whole: Value, rest: Value): ReadonlySet<string> {
  const hidden = quotableValues(whole)
  for (const shown of quotableValues(rest)) hidden.delete(shown)
  return hidden
}

function createFigures(): ViewFigures {
  const counts = { results: 0, before: 0, lossless: 0, standard: 0, compact: 0 }
  return { ...counts, inSessions: 0, neededLater: 0, goes: new Map() }
}

/** Shorter values are in later calls by chance. */
const LEAST_CHARS = 5
/** A longer text is no name; it would be quoted in parts. */
const MOST_CHARS = 300

/** The scalars of a value that a later call may quote, by their texts. */
function quotableValues(value: Value): Set<string> {
  const found = new Set<string>()
  const open: Value[] = [value]
  for (let inner = open.pop(); inner !== undefined; inner = open.pop()) {
    if (inner instanceof ObjectValue) for (const member of inner.values) open.push(member)
    else if (Array.isArray(inner)) for (const item of inner) open.push(item)
    else if (typeof inner === 'string' || typeof inner === 'number') add(found, String(inner))
    else if (inner instanceof NumberLiteral) add(found, inner.text)
  }
  return found
}

function add(found: Set<string>, text: string): void {
  if (text.length >= LEAST_CHARS && text.length <= MOST_CHARS) found.add(text)
}

/** Everything that a call's arguments may quote: each text, and its words. */
export function quotesOf(args: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const open: unknown[] = [args]
  for (let i = 0; i < open.length; i++) {
    const inner = open[i]
    if (typeof inner === 'object' && inner !== null) {
      for (const item of Object.values(inner)) open.push(item)
    } else if (typeof inner === 'number') add(found, String(inner))
    else if (typeof inner === 'string') {
      add(found, inner)
      for (const word of inner.split(/[\s"'`,;()=[\]{}<>]+/)) add(found, word)
    }
  }
  return found
}
