import { type NumberedLine, numberedLines } from '../formats/gutter/printed-lines.ts'
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
  const numbered = numberedLines(body)
  return numbered === null
    ? selectCounted(body, range, countLines(body))
    : selectNumbered(body, range, numbered)
}

function selectCounted(body: Uint8Array, range: PartRange, total: number): Part {
  const lines = resolveLines(range, total)
  return { kind: 'lines', content: cutLines(body, 1, lines.first, lines.last), ...lines }
}

/** The lines from one printed number to another one, with those between that have none. */
function selectNumbered(body: Uint8Array, range: PartRange, lines: readonly NumberedLine[]): Part {
  const first = 'suffix' in range ? (lines.at(-range.suffix) ?? lines[0]!).number : range.first
  const last = 'suffix' in range ? null : range.last
  const from = lines.find(({ number }) => number >= first)
  const to = last === null ? lines.at(-1) : lines.findLast(({ number }) => number <= last)
  if (from === undefined || to === undefined || to.number < from.number) {
    const total = countLines(body)
    // None of the numbers is printed: marks of omissions count lines from 1.
    if (first <= total) return selectCounted(body, range, total)
    const numbers = `${lines[0]!.number} to ${lines.at(-1)!.number}`
    throw invalidPart('lines', `the original has the printed numbers ${numbers}`)
  }
  return {
    kind: 'lines',
    content: body.subarray(from.start, last === null ? body.length : to.end),
    first: from.number,
    last: to.number,
    total: countLines(body),
    numbers: 'printed',
  }
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
