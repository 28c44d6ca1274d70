import { CLOSE_PARENTHESIS, OPEN_PARENTHESIS } from '../../../json/char-codes.ts'
import type { Column } from './column.ts'
import { RowReader, readColumn } from './read-table.ts'
import type { Reader } from './reader.ts'

/** A declaration begins like a keyed table, whose brace holds its number of rows. */
const DECLARATION = /[A-Za-z]{1,3}\{(?!\d+\}:)/y
const NAME = /[A-Za-z]{1,3}\(/y

/**
 * Moves over the declarations at the start of a document. Their objects can be read from then on,
 * so no declaration refers to a shape.
 */
export function readDeclarations(reader: Reader): void {
  const shapes = new Map<string, readonly Column[]>()
  for (;;) {
    DECLARATION.lastIndex = reader.at
    if (!DECLARATION.test(reader.text)) break
    const start = reader.at
    const column = readColumn(reader, 1)
    if (column.kind !== 'group') throw reader.error('a shape expected', start)
    if (shapes.has(column.name)) throw reader.error('a new shape expected', start)
    shapes.set(column.name, column.columns)
    reader.newLine()
  }
  if (shapes.size === 0) return
  reader.readShaped = depth => {
    NAME.lastIndex = reader.at
    if (!NAME.test(reader.text)) return undefined
    const open = NAME.lastIndex - 1
    const columns = shapes.get(reader.text.slice(reader.at, open))
    if (columns === undefined) return undefined
    reader.checkDepth(depth)
    reader.at = open
    reader.expect(OPEN_PARENTHESIS, 'a parenthesis')
    const object = new RowReader(reader, 'shape').only(columns, depth)
    reader.expect(CLOSE_PARENTHESIS, 'a closing parenthesis')
    return object
  }
}
