import { fenceMark } from '../../formats/text/markdown-tables.ts'
import { startsLikeHint } from '../../hints/look-alikes.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import { cutsOf } from './cuts.ts'
import { type PricedNode, SEPARATOR } from './priced-node.ts'
import type { Valuation } from './strategies.ts'

/** A text as lines, and as parts that are kept or omitted as one. */
export interface PricedText {
  readonly lines: readonly string[]
  readonly root: TextPart
}

/** A part of a text, `node` for the planner; lines are counted from 0, `end` is exclusive. */
export interface TextPart {
  readonly node: PricedNode
  readonly start: number
  readonly end: number
  /**
   * Children in order. Lines of the part before the first and after the last child are its frame.
   */
  readonly parts?: readonly TextPart[]
}

/** Parts that a text is cut into at most, by tokens: finer ones leave more gaps. */
const PARTS = 48
/** Parts of the budget that one part has at most. */
const PARTS_OF_BUDGET = 8
const LEAST_PART_TOKENS = 24

/**
 * The parts of a text with exact prices: sections by heading, tables and fences with their rows and
 * lines, runs of other lines. Blockquotes are required if `markdown` is set.
 * @param budget tokens; parts are small enough to fill it
 */
export function priceText(
  text: string,
  counter: TokenCounter,
  valuation: Valuation,
  { markdown, budget }: { readonly markdown: boolean; readonly budget: number },
): PricedText {
  const lines = text.split('\n')
  const tokens = lines.map(line => counter.count(line) + SEPARATOR)
  const total = tokens.reduce((sum, each) => sum + each, 0)
  const most = Math.max(LEAST_PART_TOKENS, Math.min(total / PARTS, budget / PARTS_OF_BUDGET))
  const spans = markdown
    ? markdownSpans(lines)
    : [{ kind: 'lines', start: 0, end: lines.length } as const]
  const parts = spans.flatMap(toParts)
  return { lines, root: { ...container(0, lines.length, 0, parts), start: 0, end: lines.length } }

  function toParts(span: Span): TextPart[] {
    const { start, end } = span
    if (span.kind === 'block') {
      const { head, tail } = span
      const own = sum(start, start + head) + sum(end - tail, end)
      return [container(start, end, own, runs(start + head, end - tail))]
    }
    if (span.kind === 'lines') return runs(start, end)
    return [{ start, end, node: { own: sum(start, end), key: 0, value: 0, required: true } }]
  }

  function container(
    start: number,
    end: number,
    own: number,
    parts: readonly TextPart[],
  ): TextPart {
    const value = linesValue(own, start)
    // A heading without a text below it is a part like any other.
    if (parts.length === 0) return { start, end, node: { own, key: 0, value } }
    const children = parts.map(part => part.node)
    return { start, end, parts, node: { own, key: 0, value, children, sealed: true } }
  }

  /** Runs of lines of at most `most` tokens; a longer line is a part that may be cut. */
  function runs(start: number, end: number): TextPart[] {
    const out: TextPart[] = []
    let from = start
    let cost = 0
    for (let at = start; at < end; at++) {
      const line = tokens[at]!
      if (at > from && (cost + line > most || lineFactor(at) !== lineFactor(from))) {
        out.push(run(from, at))
        from = at
        cost = 0
      }
      cost += line
    }
    if (from < end) out.push(run(from, end))
    return out
  }

  function run(start: number, end: number): TextPart {
    const own = sum(start, end)
    const value = linesValue(own, start)
    const cuts = own > most ? cutsOf(lines[start]!, { tokens: own, value, by: 'even' }) : []
    return { start, end, node: { own, key: 0, value, ...(cuts.length === 0 ? {} : { cuts }) } }
  }

  /** The value of text is the number of its tokens, so that parts differ only by their place. */
  function linesValue(own: number, start: number): number {
    return (own + SEPARATOR) * lineFactor(start) * valuation.strategy.factor(start, lines.length)
  }

  function lineFactor(at: number): number {
    return valuation.line?.(at) ?? 1
  }

  function sum(start: number, end: number): number {
    let all = 0
    for (let at = start; at < end; at++) all += tokens[at]!
    return all
  }
}

/** Lines of one kind. `head` and `tail` lines of a block stand around what may be omitted of it. */
export type Span =
  | { readonly kind: 'lines' | 'quote'; readonly start: number; readonly end: number }
  | {
      readonly kind: 'block'
      readonly start: number
      readonly end: number
      readonly head: number
      readonly tail: number
    }

const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/
const QUOTE = /^ {0,3}>/
const TABLE_ROW = /^ {0,3}\|/
const TABLE_RULE = /^ {0,3}\|[-:| \t]+$/

/**
 * The blocks of a Markdown text: sections (a heading and the lines below), fences, tables,
 * blockquotes, other lines.
 */
export function markdownSpans(lines: readonly string[]): Span[] {
  const spans: Span[] = []
  for (let at = 0; at < lines.length; ) {
    const span = spanAt(lines, at)
    spans.push(span)
    at = span.end
  }
  return spans
}

function spanAt(lines: readonly string[], start: number): Span {
  const line = lines[start]!
  const fence = fenceMark(line)
  if (fence !== null) {
    const { end, tail } = fenceEnd(lines, start, fence)
    return { kind: 'block', start, end, head: 1, tail }
  }
  if (isQuote(line)) return { kind: 'quote', start, end: whileTrue(lines, start, isQuote) }
  if (TABLE_ROW.test(line) && TABLE_RULE.test(lines[start + 1]?.trimEnd() ?? '')) {
    const end = whileTrue(lines, start, other => TABLE_ROW.test(other))
    return { kind: 'block', start, end, head: 2, tail: 0 }
  }
  const end = whileTrue(lines, start + 1, other => !startsSpan(other))
  return HEADING.test(line)
    ? { kind: 'block', start, end, head: 1, tail: 0 }
    : { kind: 'lines', start, end }
}

/** A line that looks like a hint of ours has the weight of any other line. */
function isQuote(line: string): boolean {
  return QUOTE.test(line) && !startsLikeHint(line)
}

function startsSpan(line: string): boolean {
  return HEADING.test(line) || isQuote(line) || TABLE_ROW.test(line) || fenceMark(line) !== null
}

function whileTrue(
  lines: readonly string[],
  start: number,
  holds: (line: string) => boolean,
): number {
  let end = start
  while (end < lines.length && holds(lines[end]!)) end++
  return end
}

/**
 * The end of the fence that opens at `start`, with its closing lines. A fence that is not closed
 * continues to the end of the text.
 */
function fenceEnd(lines: readonly string[], start: number, fence: string) {
  for (let at = start + 1; at < lines.length; at++) {
    const mark = fenceMark(lines[at]!)
    if (mark?.startsWith(fence) === true && lines[at]!.trim() === mark) {
      return { end: at + 1, tail: 1 }
    }
  }
  return { end: lines.length, tail: 0 }
}
