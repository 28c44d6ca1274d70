import { cutText } from './cuts.ts'
import type { PricedText, TextPart } from './price-text.ts'
import type { Kept } from './priced-node.ts'
import type { Omission } from './prune-value.ts'

/** The lines that are kept, a gap's mark in place of each run that is not, and the runs. */
export function pruneText(
  { lines, root }: PricedText,
  kept: Kept,
): { readonly text: string; readonly omissions: readonly Omission[] } {
  const out: string[] = []
  const omissions: Omission[] = []
  let gap: { start: number; end: number } | null = null

  function closeGap(): void {
    if (gap === null) return
    const { start, end } = gap
    gap = null
    if (isShort(start, end)) {
      out.push(...lines.slice(start, end))
      return
    }
    out.push(gapMark(start, end))
    omissions.push({
      at: linesAt(start, end),
      unit: 'lines',
      omitted: end - start,
      of: lines.length,
    })
  }

  /** Whether the mark would take as much room as what it stands for. */
  function isShort(start: number, end: number): boolean {
    if (end - start > MARK_CHARS) return false
    let chars = 0
    for (let at = start; at < end; at++) chars += lines[at]!.length + 1
    return chars <= MARK_CHARS
  }

  function omit(start: number, end: number): void {
    if (start === end) return
    if (gap === null) gap = { start, end }
    else gap.end = end
  }

  function keep(start: number, end: number): void {
    if (start < end) closeGap()
    for (let at = start; at < end; at++) out.push(lines[at]!)
  }

  function visit({ start, end, parts = [] }: TextPart, part: Kept): void {
    if (part.kind === 'all') keep(start, end)
    else if (part.kind === 'cut') {
      closeGap()
      out.push(cutText(lines[start]!, part.chars))
      omissions.push({ at: linesAt(start, start + 1), unit: 'texts', omitted: 1 })
    } else if (parts.length === 0) keep(start, end)
    else {
      keep(start, parts[0]!.start)
      parts.forEach((inner, index) => {
        const choice = part.children[index] ?? null
        if (choice === null) omit(inner.start, inner.end)
        else visit(inner, choice)
      })
      keep(parts.at(-1)!.end, end)
    }
  }

  visit(root, kept)
  closeGap()
  return { text: out.join('\n'), omissions }
}

/** About the length of a gap's mark. */
const MARK_CHARS = 18

/** As `?lines=` takes them. */
function linesAt(start: number, end: number): string {
  return `lines ${start + 1}-${end}`
}

/** One line in place of the lines `start` to `end` (from 0, exclusive), numbered as `?lines=` counts them. */
function gapMark(start: number, end: number): string {
  return end - start === 1 ? `[… line ${end}]` : `[… lines ${start + 1}-${end}]`
}
