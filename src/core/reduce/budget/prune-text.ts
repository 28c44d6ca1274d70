import { cutEnd } from './cuts.ts'
import { createGapWriter } from './gap-writer.ts'
import type { PricedText, TextPart } from './price-text.ts'
import type { Kept } from './priced-node.ts'
import type { Omission } from './prune-value.ts'

/** The lines that are kept, a gap's mark in place of each run that is not, and the runs. */
export function pruneText(
  { lines, root }: PricedText,
  kept: Kept,
): { readonly text: string; readonly omissions: readonly Omission[] } {
  const { keep, omit, keepPart, finish } = createGapWriter(lines)

  function visit({ start, end, parts = [] }: TextPart, part: Kept): void {
    if (part.kind === 'all') keep(start, end)
    else if (part.kind === 'cut') {
      const line = lines[start]!
      keepPart(start, [{ start: cutEnd(line, part.chars), end: line.length }])
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
  return finish()
}
