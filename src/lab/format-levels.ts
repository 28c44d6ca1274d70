import {
  type Findings,
  INNER_FORMATS,
  type InnerFormat,
  noFindings,
  scanString,
} from '../core/classify/inner-formats.ts'
import { ObjectValue, type Value } from '../core/json/value.ts'

/** Levels that are distinguished; the last is of all that is deeper. */
export const MAX_LEVEL = 6

/** What was found in the strings of one level, a bit for each of `INNER_FORMATS`. */
type FormatMask = number

/**
 * The inner formats of a value's strings by the number of objects and arrays around them: `[0]` is
 * of the members of the outermost one. Empty for a scalar. Linear, without recursion.
 */
export function formatLevels(root: Value): readonly FormatMask[] {
  const levels: FormatMask[] = []
  let findings = noFindings()
  for (let level = membersOf(root); level.length > 0; ) {
    const next: Value[] = []
    for (const member of level) {
      if (typeof member === 'string') scanString(member, findings)
      else for (const inner of membersOf(member)) next.push(inner)
    }
    if (levels.length < MAX_LEVEL) {
      levels.push(maskOf(findings))
      findings = noFindings()
    } else levels[MAX_LEVEL - 1]! |= maskOf(findings)
    level = next
  }
  return levels
}

/** The formats of a mask, in the order of `INNER_FORMATS`. */
export function formatsOf(mask: FormatMask): readonly InnerFormat[] {
  return INNER_FORMATS.filter((_, index) => (mask & (1 << index)) !== 0)
}

function maskOf(findings: Findings): FormatMask {
  return INNER_FORMATS.reduce((mask, name, index) => mask | (Number(findings[name]) << index), 0)
}

function membersOf(value: Value): readonly Value[] {
  if (value instanceof ObjectValue) return value.values
  return Array.isArray(value) ? value : []
}
