import { lineCount, nameOfLine, printedNames } from '../../formats/gutter/printed-lines.ts'
import { escapeMarks } from '../../hints/escape.ts'
import { cutEnd, gapOfChars } from './cuts.ts'
import type { PricedText, TextPart } from './price-text.ts'
import type { KeptPart } from './priced-node.ts'
import type { Omission } from './prune-value.ts'

interface PruneOptions {
  /** Lines that stay in any case. */
  readonly always?: ReadonlySet<number> | undefined
  /** Lines that marks count, with the names of their kinds. */
  readonly counted?: ReadonlyMap<number, string>
}

/** The kept lines, with a mark in each gap, and the runs that are left out. */
export function pruneText(
  { lines, root }: PricedText,
  kept: KeptPart,
  { always = new Set(), counted }: PruneOptions = {},
): { readonly text: string; readonly omissions: readonly Omission[] } {
  const { keep, omit, keepPart, finish } = createGapWriter(lines, counted)

  function omitOthers(start: number, end: number): void {
    for (let at = start; at < end; at++) (always.has(at) ? keep : omit)(at, at + 1)
  }

  function visit({ start, end, parts = [] }: TextPart, part: KeptPart): void {
    if (part.kind === 'all' || (part.kind === 'cut' && always.has(start))) keep(start, end)
    else if (part.kind === 'cut') {
      const line = lines[start]!
      keepPart(start, [{ start: cutEnd(line, part.chars), end: line.length }])
    } else if (parts.length === 0 || part.kind === 'text') keep(start, end)
    else {
      keep(start, parts[0]!.start)
      parts.forEach((inner, index) => {
        const choice = part.children[index] ?? null
        if (choice === null) omitOthers(inner.start, inner.end)
        else visit(inner, choice)
      })
      keep(parts.at(-1)!.end, end)
    }
  }

  visit(root, kept)
  return finish()
}

/** A run of a line's characters, `end` exclusive. */
interface Gap {
  readonly start: number
  readonly end: number
}

/** A line with a mark in place of each of some runs; these are in order and do not touch. */
export function withoutParts(line: string, gaps: readonly Gap[]): string {
  let text = ''
  let from = 0
  for (const { start, end } of gaps) {
    text += line.slice(from, start) + gapOfChars(end - start)
    from = end
  }
  return text + line.slice(from)
}

/** What is missing of a line that lacks parts. @param name what a reader calls it */
export function lackingParts(name: number): Omission {
  return { at: linesAt(name, name), unit: 'texts', omitted: 1 }
}

/** A text without some of its lines. */
export interface Pruned {
  readonly text: string
  /** What is missing in it. */
  readonly omissions: readonly Omission[]
  /** Lines that are not in it, or not whole: ranges one after the other, as `CoveredLines`. */
  readonly covered: readonly number[]
}

/**
 * Lines of a text in their order, each kept or left out. A mark in each gap names what is left out.
 */
export interface GapWriter {
  keep(start: number, end: number): void
  /** Leaves out the lines `start` to `end` (from 0, exclusive). */
  omit(start: number, end: number): void
  /** Keeps a line without some runs of its characters; these are in order and do not touch. */
  keepPart(line: number, gaps: readonly Gap[]): void
  /** Writes one line in place of the lines `start` to `end`. It represents them. */
  replace(line: string, start: number, end: number): void
  finish(): Pruned
}

/**
 * Marks name lines by the numbers that are printed before them, if these name the text's lines, as
 * `?lines=` does. So a run begins and ends with such a line; others at its ends are kept. A run
 * that is not longer than its mark is kept too.
 * @param counted the kinds of lines that a mark must count, by line
 */
export function createGapWriter(
  lines: readonly string[],
  counted: ReadonlyMap<number, string> = new Map(),
): GapWriter {
  const out: string[] = []
  const omissions: Omission[] = []
  const covered: number[] = []
  const names = printedNames(lines)
  const total = lineCount(lines)
  let gap: { start: number; end: number } | null = null

  /** Marks in the line's own text are not ours, so they are escaped. */
  function copy(start: number, end: number): void {
    for (let at = start; at < end; at++) out.push(escapeMarks(lines[at]!))
  }

  function closeGap(): void {
    if (gap === null) return
    let start = gap.start
    let end = Math.min(gap.end, total)
    const last = gap.end
    gap = null
    if (names !== null) {
      while (start < end && names[end - 1] === 0) end--
      const first = start
      while (start < end && names[start] === 0) start++
      copy(first, start)
    }
    writeGap(start, end)
    copy(end, last)
  }

  function writeGap(start: number, end: number): void {
    if (start === end) return
    const [first, last] = [nameOfLine(names, start), nameOfLine(names, end - 1)]
    const counts = countsIn(counted, start, end)
    if (isShort(start, end, MARK_CHARS + counts.length)) {
      copy(start, end)
      return
    }
    out.push(gapMark(first, last, counts))
    omissions.push({ at: linesAt(first, last), unit: 'lines', omitted: end - start, of: total })
    covered.push(start, end)
  }

  /** Whether the mark would take as much room as the lines that it represents. */
  function isShort(start: number, end: number, mark: number): boolean {
    if (end - start > mark) return false
    let chars = 0
    for (let at = start; at < end; at++) chars += lines[at]!.length + 1
    return chars <= mark
  }

  return {
    keep(start, end) {
      if (start < end) closeGap()
      copy(start, end)
    },
    omit(start, end) {
      if (start === end) return
      if (gap === null) gap = { start, end }
      else gap.end = end
    },
    keepPart(line, gaps) {
      closeGap()
      out.push(withoutParts(lines[line]!, gaps))
      omissions.push(lackingParts(nameOfLine(names, line)))
      covered.push(line, line + 1)
    },
    replace(line, start, end) {
      closeGap()
      out.push(line)
      covered.push(start, end)
    },
    finish() {
      closeGap()
      return { text: out.join('\n'), omissions, covered }
    },
  }
}

/** About the length of a gap's mark, its counts apart. */
const MARK_CHARS = 18

/** As `?lines=` takes them. */
function linesAt(first: number, last: number): string {
  return `lines ${first}-${last}`
}

/** Kinds that a mark names at most. */
const MOST_KINDS = 4

/** How many lines of each kind are in a gap, the most frequent kind first: `, 68 like "a b"`. */
function countsIn(counted: ReadonlyMap<number, string>, start: number, end: number): string {
  if (counted.size === 0) return ''
  const kinds = new Map<string, number>()
  for (let at = start; at < end; at++) {
    const kind = counted.get(at)
    if (kind !== undefined) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  const named = [...kinds].filter(([name]) => name !== '').sort(([, a], [, b]) => b - a)
  const shown = named.slice(0, MOST_KINDS)
  const parts = shown.map(([name, count]) => `, ${count} like "${name}"`)
  const others = named.slice(MOST_KINDS).reduce((sum, [, count]) => sum + count, kinds.get('') ?? 0)
  const noun = others === 1 ? 'failure' : 'failures'
  if (others > 0) parts.push(`, ${others} ${shown.length > 0 ? 'other ' : ''}${noun}`)
  return parts.join('')
}

/** One line in place of those from `first` to `last`, as a reader and `?lines=` name them. */
function gapMark(first: number, last: number, counts: string): string {
  const place = first === last ? `line ${first}` : `lines ${first}-${last}`
  return `[… ${place}${counts}]`
}
