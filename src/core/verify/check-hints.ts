import type { Hint } from '../hints/hint.ts'
import { parseHint } from '../hints/parse-hint.ts'
import { unmarkJson } from '../pipeline/json-marker.ts'
import { readReference } from '../sessions/lines/reference-line.ts'
import { wasShown, wrongEarlier } from './check-earlier.ts'
import { wrongElision } from './check-elision.ts'
import { wrongFormat, wrongMetadata, wrongOverflow } from './check-provider-notes.ts'
import type { CheckedAnswer } from './checked-answer.ts'
import type { Fault } from './fault.ts'
import { checkUnlisted } from './look-alikes.ts'

/** Every hint that an answer lists: it is there, can be read, and is true. */
export function checkHints(checked: CheckedAnswer, maxChars: number): Fault[] {
  const { content, hints } = checked.answer
  const faults: Fault[] = []
  const lines = countLines(content)
  for (const { family, text } of hints) {
    const blame = (reason: string) => {
      faults.push({ family: family as Fault['family'], reason, hint: text })
    }
    const times = lines.get(text) ?? 0
    lines.set(text, times - 1)
    if (times === 0 && unmarkJson(content, text) === null) blame('it is no line of the content')
    const hint = readListed(family, text)
    if (hint === null) blame('it cannot be read')
    else if (hint !== 'continued') {
      const reason = wrongClaim(hint, text, checked, maxChars)
      if (reason !== null) blame(reason)
    }
  }
  return [...faults, ...checkUnlisted(checked)]
}

/** A line of `lines@1` that goes on with the result of the line before has only its place. */
function readListed(family: string, text: string): Hint | 'continued' | null {
  const hint = parseHint(text)
  if (hint !== null) return hint.family === family ? hint : null
  if (family !== 'lines') return null
  const reference = readReference(text)
  if (reference === null) return null
  if (reference.ref === undefined) return 'continued'
  return parseHint(text.slice(0, text.lastIndexOf(']') + 1))
}

/** Why a hint's claim is not true; `null` if it is. */
function wrongClaim(
  hint: Hint,
  line: string,
  checked: CheckedAnswer,
  maxChars: number,
): string | null {
  switch (hint.family) {
    case 'metadata':
      return wrongMetadata(hint, line, checked)
    case 'overflow':
      return wrongOverflow(hint, line, checked)
    case 'format':
      return wrongFormat(hint, checked)
    case 'elision':
      return wrongElision(hint, checked, maxChars)
    case 'reference': {
      // Terse lines leave the name to who has the service at hand.
      const isNameless = hint.call === undefined && line.includes(', ')
      const isKnown = !isNameless || wasShown(hint.ref, checked.context)
      return isKnown ? wrongEarlier(hint, checked) : 'it has no call, and its id was never shown'
    }
    case 'near_reference':
    case 'lines':
      return wrongEarlier(hint, checked)
  }
}

function countLines(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  for (const line of text.split('\n')) lines.set(line, (lines.get(line) ?? 0) + 1)
  return lines
}
