import { findLookAlikes } from '../hints/look-alikes.ts'
import { parseJson } from '../json/parse-json.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import { writeJson } from '../json/write-json.ts'
import { prunedValue } from '../reduce/budget/document.ts'
import { ALL, type KeptPart } from '../reduce/budget/priced-node.ts'
import { createGapWriter, type GapWriter } from '../reduce/budget/prune-text.ts'
import { type Omission, pruneValue } from '../reduce/budget/prune-value.ts'
import { rankLists } from '../reduce/elide/rank-items.ts'
import { BULK, STRUCTURE } from '../reduce/elide/reducer.ts'
import { type RankedText, rankText } from '../reduce/elide/text-reducers.ts'
import { type DiffLevel, viewDiff } from '../reduce/elide/view-diff.ts'
import type { CoveredLines } from '../sessions/lines/covered-lines.ts'
import { guardLine } from '../sessions/lines/guard-line.ts'
import type { PlannedRun } from '../sessions/lines/plan-lines.ts'
import { needsOf } from '../sessions/lines/reference-line.ts'
import type { TokenCounter } from '../tokens/counter.ts'
import { marksIn } from './escape.ts'
import type { LayerInput } from './layer.ts'
import { type LeftMarks, markedLines } from './marked-lines.ts'
import type { ElisionProfile } from './profile/resolve.ts'
import type { ShownByView } from './view.ts'

/** What is left of a content, and what is not. */
export interface Left extends LeftMarks {
  readonly content: string
  readonly omissions: readonly Omission[]
  /** Lines of a text that it lacks, or has in part; absent: its lines cannot be counted. */
  readonly covered?: CoveredLines
}

/** What may go beside the bulk. */
interface LeftOptions {
  readonly shown: ShownByView | null
  readonly level?: DiffLevel | undefined
  readonly elision: Pick<ElisionProfile, 'minBlockBytes'>
}

/** A content without its bulk; `null` if nothing of it may go. */
export function leftOf(
  { value, content, request: { omits, mode } }: LayerInput,
  { shown, level = 'standard', elision }: LeftOptions,
): Left | null {
  const isElided = mode === 'elide'
  const keepsBulk = isElided && omits?.bulk === false
  const terms = { isElided, level, leastChars: keepsBulk ? Infinity : elision.minBlockBytes }
  if (typeof value === 'object' && value !== null) {
    return leftOfValue(value, isElided ? omits : NO_BULK, shown, terms)
  }
  return keepsBulk ? null : leftOfText(content, terms)
}

/** Which texts lose which parts. */
interface TextTerms {
  /** Whether any bulk may go; else only what a diff does not show at its level. */
  readonly isElided: boolean
  readonly level: DiffLevel
  /** Shorter strings of a value stay. */
  readonly leastChars: number
}

function leftOfText(text: string, { isElided, level }: TextTerms): Left | null {
  const ranked = rankText(text)
  if (ranked === null) return null
  if (ranked.kind === 'diff') return leftOfDiff(ranked, level, isElided)
  return isElided ? withoutBulk(ranked) : null
}

/** A diff has no bulk, except in long lines outside of its hunks. */
function leftOfDiff(ranked: RankedText, level: DiffLevel, isElided: boolean): Left | null {
  const { lines, ranks } = ranked
  const inner = isElided ? ranked.inner : undefined
  const view = viewDiff(lines, level, inner)
  if (view !== null) return { content: view.text, omissions: view.omissions }
  if (inner === undefined || inner.size === 0) return null
  return withoutBulk({ ...ranked, ranks: ranks.map(() => STRUCTURE) })
}

/** The request leaves out nothing but what a view does not show. */
const NO_BULK = { fields: [], bulk: false }

/**
 * Lists and texts without their bulk, objects without fields to omit; everything else as it is.
 */
function leftOfValue(
  value: Value,
  omits: LayerInput['request']['omits'],
  shown: ShownByView | null,
  terms: TextTerms,
): Left | null {
  const kept = keptByBoth(keptOfValue(value, omits, terms, 0, shown?.kept), shown?.kept ?? ALL)
  if (kept === null || kept === ALL) return null
  return { ...prunedValue(value, kept), innerMarks: innerMarksIn(kept) }
}

function innerMarksIn(kept: KeptPart | null): number {
  if (kept?.kind === 'text') return kept.marks ?? marksIn(kept.text)
  if (kept?.kind !== 'some') return 0
  return kept.children.reduce((sum, child) => sum + innerMarksIn(child), 0)
}

/**
 * What stays of a value.
 * @param shown what a view shows of it: lists of which it shows less are not sampled as well
 */
function keptOfValue(
  value: Value,
  omits: LayerInput['request']['omits'],
  terms: TextTerms,
  depth: number,
  shown: KeptPart | null = ALL,
): KeptPart {
  const lists: ReturnType<typeof rankLists> = omits?.bulk === false ? new Map() : rankLists(value)
  const fields = new Set(omits?.fields)
  const keptOf = (inner: Value, view: KeptPart | null = ALL): KeptPart => {
    const viewAt = (at: number) => (view?.kind === 'some' ? (view.children[at] ?? null) : ALL)
    if (typeof inner === 'string') return keptOfString(inner, terms, depth)
    if (inner instanceof ObjectValue) {
      if (isFailure(inner)) return ALL
      const parts = inner.values.map((each, at) =>
        fields.has(inner.keys[at]!) ? null : keptOf(each, viewAt(at)),
      )
      return someOf(parts)
    }
    if (!Array.isArray(inner)) return ALL
    const ranks = view?.kind === 'some' ? undefined : lists.get(inner)
    if (ranks === undefined) return someOf(inner.map((item, at) => keptOf(item, viewAt(at))))
    return { kind: 'some', children: Array.from(ranks, rank => (rank === BULK ? null : ALL)) }
  }
  return keptOf(value, shown)
}

function someOf(children: readonly (KeptPart | null)[]): KeptPart {
  return children.every(child => child === ALL) ? ALL : { kind: 'some', children }
}

/** Whether an object is the answer of a call that failed, as MCP states it. */
function isFailure({ keys, values }: ObjectValue): boolean {
  return keys.some((key, at) => (key === 'isError' || key === 'is_error') && values[at] === true)
}

/** JSON in strings of JSON in strings, at most. */
const MAX_INNER = 4

/** A string as the text, or the JSON, that it is. */
function keptOfString(text: string, terms: TextTerms, depth: number): KeptPart {
  if (text.length < terms.leastChars || !text.isWellFormed()) return ALL
  const left = leftOfInnerJson(text, terms, depth) ?? leftOfText(text, terms)
  if (left === null || left.omissions.length === 0 || left.content.length >= text.length) return ALL
  const { content, omissions, innerMarks: marks } = left
  return {
    kind: 'text',
    text: content,
    missing: sumsOf(omissions),
    ...(marks === undefined ? {} : { marks }),
  }
}

function leftOfInnerJson(text: string, terms: TextTerms, depth: number): Left | null {
  const isOpened = text.startsWith('{') || text.startsWith('[')
  if (!isOpened || depth === MAX_INNER || !terms.isElided) return null
  const parsed = parseJson(text)
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null) return null
  const kept = keptOfValue(parsed.value, undefined, terms, depth + 1)
  const pruned = pruneValue(parsed.value, kept)
  // What a list in it has is no number of the text's lines.
  const omissions = pruned.omissions.map(({ of, ...omission }) => omission)
  return { content: writeJson(pruned.value), omissions, innerMarks: innerMarksIn(kept) }
}

/** Tokens of a mark in place of lines. */
const MARK_TOKENS = 8

/** The rest of a text with references, and those of them that are in it. */
export interface LeftBeside extends Left {
  readonly runs: readonly PlannedRun[]
}

/**
 * A text without its bulk, in which references represent runs of lines, as far as they cost fewer
 * tokens than what is left of these lines. Returns `null` for a text of no kind, for a diff, and if
 * the text imitates hints: its escapes would be among the references.
 */
export function leftBeside(
  text: string,
  runs: readonly PlannedRun[],
  counter: TokenCounter,
): LeftBeside | null {
  const ranked = rankText(text)
  if (ranked === null || ranked.kind === 'diff' || imitatesHints(ranked.lines, text)) return null
  const { lines } = ranked
  const writer = createGapWriter(lines, ranked.counted)
  const used: PlannedRun[] = []
  /** Bodies whose first reference, which names them, was passed over. */
  const unnamed = new Set<string>()
  let at = 0
  for (const run of runs) {
    const { from, end, reference, identity } = run
    writeRest(writer, ranked, at, from)
    at = end
    const costs = tokensLeft(ranked, from, end, counter)
    const isReadable = !unnamed.has(identity) && hasWhatItNeeds(run, used.at(-1), ranked)
    if (isReadable && costs > counter.count(reference)) {
      writer.replace(reference, from, end)
      used.push(run)
    } else {
      writeRest(writer, ranked, from, end)
      if (!used.some(other => other.identity === identity)) unnamed.add(identity)
    }
  }
  writeRest(writer, ranked, at, lines.length)
  const { text: content, ...missing } = writer.finish()
  const isBoth = used.length > 0 && missing.omissions.length > 0
  return isBoth ? { content, ...missing, runs: used } : null
}

/**
 * Whether the text has what a reference needs: a line before it whose number it continues, and a
 * reference before it to the same body.
 */
function hasWhatItNeeds(
  { from, reference, identity }: PlannedRun,
  before: PlannedRun | undefined,
  { ranks, inner }: RankedText,
): boolean {
  const needs = needsOf(reference)
  if (needs.referenceBefore && before?.identity !== identity) return false
  if (!needs.lineBefore || before?.end === from) return true
  return from > 0 && ranks[from - 1] !== BULK && inner?.has(from - 1) !== true
}

function imitatesHints(lines: readonly string[], text: string): boolean {
  return lines.some(line => guardLine(line) !== line) || findLookAlikes(text).length > 0
}

/** About the tokens of what is left of lines. */
function tokensLeft(
  { lines, ranks }: RankedText,
  from: number,
  end: number,
  counter: TokenCounter,
): number {
  const kept: string[] = []
  let gaps = 0
  for (let at = from; at < end; at++) {
    if (ranks[at] !== BULK) kept.push(lines[at]!)
    else if (at === from || ranks[at - 1] !== BULK) gaps++
  }
  const marks = kept.length === 0 ? 0 : gaps * MARK_TOKENS
  return marks + counter.count(kept.join('\n'))
}

/** What is missing in a text, without its places: marks in it show those of lines. */
function sumsOf(omissions: readonly Omission[]): Extract<KeptPart, { kind: 'text' }>['missing'] {
  const sums = new Map<string, { unit: Omission['unit']; omitted: number; of?: number }>()
  for (const { unit, omitted, of } of omissions) {
    const sum = sums.get(unit)
    if (sum === undefined)
      sums.set(unit, { unit, omitted, ...(unit === 'lines' && of !== undefined && { of }) })
    else sum.omitted += omitted
  }
  return [...sums.values()]
}

/** Lines without their bulk, with marks in its places. */
function withoutBulk(ranked: RankedText): Left {
  const writer = createGapWriter(ranked.lines, ranked.counted)
  writeRest(writer, ranked, 0, ranked.lines.length)
  const { text: content, ...missing } = writer.finish()
  return { content, ...missing, ...markedLines(ranked.lines, missing.omissions) }
}

/** Some lines without their bulk. */
function writeRest(
  writer: GapWriter,
  { ranks, inner }: RankedText,
  from: number,
  end: number,
): void {
  for (let at = from; at < end; at++) {
    const gaps = inner?.get(at)
    if (ranks[at] === BULK) writer.omit(at, at + 1)
    else if (gaps === undefined) writer.keep(at, at + 1)
    else writer.keepPart(at, gaps)
  }
}

/** What both of two choices from one value keep; `null` if that is nothing. */
function keptByBoth(a: KeptPart | null, b: KeptPart | null): KeptPart | null {
  if (a === null || b === null) return null
  if (a.kind === 'all') return b
  if (b.kind === 'all') return a
  if (a.kind === 'cut' || b.kind === 'cut') {
    const chars = [a, b].flatMap(each => (each.kind === 'cut' ? [each.chars] : []))
    return { kind: 'cut', chars: chars.reduce((a, b) => Math.min(a, b), Infinity) }
  }
  if (a.kind === 'text') return a
  if (b.kind === 'text') return b
  const children = a.children.map((child, at) => keptByBoth(child, b.children[at] ?? null))
  if (children.every(child => child === ALL)) return ALL
  return children.every(child => child === null) ? null : { kind: 'some', children }
}
