import { grep } from './grep.ts'
import { selectPath } from './json-path.ts'
import { countLines, cutLines, resolveLines } from './lines.ts'
import type { Part, PartSelector } from './part.ts'
import { selectBytes } from './range.ts'

/**
 * Cuts a part out of a body (UTF-8). Linear in the body; memory is the part.
 * @throws AppError `invalid_request` if the whole part lies outside, or the body is no JSON
 */
export function selectPart(body: Uint8Array, selector: PartSelector): Part {
  switch (selector.kind) {
    case 'lines': {
      const lines = resolveLines(selector.range, countLines(body))
      return { kind: 'lines', content: cutLines(body, 1, lines.first, lines.last), ...lines }
    }
    case 'bytes':
      return selectBytes(body, selector.range)
    case 'path':
      return selectPath(body, selector.steps)
    case 'grep':
      return grep(body, selector)
  }
}
