import { parseJson } from '../json/parse-json.ts'
import { grep } from './grep.ts'
import { invalidPart } from './invalid-part.ts'
import { selectPath } from './json-path.ts'
import { countLines, cutLines, resolveLines } from './lines.ts'
import type { Part, PartRange, PartSelector } from './part.ts'
import type { PathStep } from './path-steps.ts'
import { selectBytes } from './range.ts'

/**
 * Cuts a part out of a body (UTF-8). Linear in the body; memory is the part.
 * @throws AppError `invalid_request` if the whole part lies outside, or the body is no JSON
 */
export function selectPart(body: Uint8Array, selector: PartSelector): Part {
  switch (selector.kind) {
    case 'lines':
      return selectLines(body, selector.range)
    case 'bytes':
      return selectBytes(body, selector.range)
    case 'path':
      return selector.lines === undefined
        ? selectPath(body, selector.steps)
        : selectLines(textAt(body, selector.steps), selector.lines)
    case 'grep':
      return grep(body, selector)
  }
}

function selectLines(body: Uint8Array, range: PartRange): Part {
  const lines = resolveLines(range, countLines(body))
  return { kind: 'lines', content: cutLines(body, 1, lines.first, lines.last), ...lines }
}

/** The one text that a path leads to, in UTF-8. */
function textAt(body: Uint8Array, steps: readonly PathStep[]): Uint8Array {
  const { content } = selectPath(body, steps)
  const parsed = parseJson(Buffer.from(content).toString('utf8'))
  const text = parsed.ok ? parsed.value : undefined
  if (typeof text !== 'string') throw invalidPart('lines', 'needs a path to one text')
  if (!text.isWellFormed()) throw invalidPart('lines', 'needs a text that UTF-8 can represent')
  return Buffer.from(text, 'utf8')
}
