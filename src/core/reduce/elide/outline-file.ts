import { bracesReducer, indentsReducer } from './reduce-code.ts'
import { BULK } from './reducer.ts'

/**
 * Which lines of a file of source code make its outline; `null` for any other file.
 * @param lines of the file, without a diff's signs
 */
export function outlineOf(lines: readonly string[]): readonly boolean[] | null {
  const view = { lines, chars: lines.reduce((sum, line) => sum + line.length + 1, 0) }
  const reducer = [bracesReducer, indentsReducer].find(({ accepts }) => accepts(view))
  return reducer === undefined ? null : Array.from(reducer.rank(view).ranks, rank => rank !== BULK)
}
