import { withoutGaps } from '../formats/gaps.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { findLookAlikes } from '../hints/look-alikes.ts'
import { escapeChoice, marksIn } from './escape.ts'
import { type Choice, chooseLossless } from './gate.ts'
import type { Layer, LayerInput } from './layer.ts'
import type { LeftMarks } from './marked-lines.ts'

/** A text with gaps may have so many times more tokens than one without, and so many for each. */
const MOST_MORE = 1.1
const GAP_TOKENS = 12

/** The smallest lossless text of the rest of a content, which may have marks of ours. */
export function chooseLeft(
  content: string,
  { innerMarks, marked, unmarked = content }: LeftMarks,
  read: (content: string) => LayerInput,
  layers: readonly Layer[],
): Choice {
  const withGaps = marked && chooseMarked({ ...read(unmarked), marked }, layers, innerMarks)
  if (withGaps) return withGaps
  const left = read(content)
  return escapeChoice(left, chooseLossless(left, layers, []), 'hints', innerMarks)
}

/**
 * The smallest text of a value that has a gap in each place where items are missing. Returns `null`
 * if no format can write one, if it takes many more tokens than a text without gaps, and if the
 * data has something like a gap: then the marker names the places.
 * @param left what is left, without marks, and as a value with gaps
 */
function chooseMarked(
  left: LayerInput,
  layers: readonly Layer[],
  innerMarks?: number,
): Choice | null {
  if (mayImitateGaps(left)) return null
  const chosen = chooseLossless(left, layers, [])
  if (chosen.format === PASSTHROUGH) return null
  const { marked: _, ...unmarked } = left
  const plain = chooseLossless(unmarked, layers, [])
  const escaped = escapeChoice(left, chosen, 'hints', innerMarks)
  const { gaps } = withoutGaps(escaped.content)
  const most = MOST_MORE * plain.tokens + GAP_TOKENS * gaps.length
  return gaps.length === 0 || escaped.tokens > most ? null : { ...escaped, isMarked: true }
}

/** Marks in lines cannot be escaped in a value. */
function mayImitateGaps({ content, value }: LayerInput): boolean {
  if (value === undefined && marksIn(content) > 0) return true
  if (!content.includes(' not shown')) return false
  return findLookAlikes(content, 'hints').some(at => content.startsWith('… ', at))
}
