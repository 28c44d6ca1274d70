import { quote } from '../../hints/text-slot.ts'
import { parseJson } from '../../json/parse-json.ts'
import { NumberLiteral } from '../../json/value.ts'
import type { ChangeList, Path, RowsChange, ScalarValue } from './change-list.ts'

/**
 * How changes are listed below a near-reference, one scalar a line, and tables of changed rows:
 *
 * ```
 * minute: 7
 * jobs, 3 of 8 rows:
 * id,status
 * 880,success
 * ```
 */
export function writeChanges(changes: ChangeList): string {
  return changes
    .map(change => {
      if (change.kind === 'scalar') return `${writePath(change.path)}: ${writeCell(change.value)}`
      const { path, of, columns, rows } = change
      const head = `${writePath(path)}, ${rows.length} of ${of} rows:`
      const lines = [columns.map(writeName), ...rows.map(row => row.map(writeCell))]
      return [head, ...lines.map(cells => cells.join(','))].join('\n')
    })
    .join('\n')
}

/** Keys and texts that are unchanged between dots, commas and the end of a line. */
const BARE_NAME = /^[A-Za-z_][\w-]*$/
const BARE_TEXT = /^[\w./$~@%+?&#!:;=()-]+(?: [\w./$~@%+?&#!:;=()-]+)*$/
/** Texts that look like another scalar, or nearly. */
const LITERAL = /^(?:[-+.\d eE]*|-?Infinity|NaN|true|false|null)$/
/** The outermost value. */
const ROOT = '$'

function writePath(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += text === '' ? `${ROOT}[${step}]` : `[${step}]`
    else text += text === '' ? writeName(step) : `.${writeName(step)}`
  }
  return text === '' ? ROOT : text
}

function writeName(name: string): string {
  return BARE_NAME.test(name) ? name : quote(name)
}

/** A scalar: a text is in quotes unless it can only be read as a text. */
export function writeCell(value: ScalarValue): string {
  if (typeof value === 'string') {
    return BARE_TEXT.test(value) && !LITERAL.test(value) ? value : quote(value)
  }
  return value instanceof NumberLiteral ? value.text : String(value)
}

/** The changes that `writeChanges` wrote; `null` for any other text. Linear. */
export function readChanges(text: string): ChangeList | null {
  const lines = text.split('\n')
  const changes: ChangeList[number][] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const start = readPath(line)
    if (start === null) return null
    const head = ROWS.exec(line.slice(start.end))
    if (head === null) {
      const value = line.startsWith(': ', start.end) ? readCells(line.slice(start.end + 2)) : null
      if (value?.length !== 1) return null
      changes.push({ kind: 'scalar', path: start.path, value: value[0]! })
      continue
    }
    const count = Number(head[1])
    const table = readRows(lines.slice(at + 1, at + 2 + count), count)
    if (table === null) return null
    changes.push({ kind: 'rows', path: start.path, of: Number(head[2]), ...table })
    at += count + 1
  }
  return changes
}

const ROWS = /^, ([1-9]\d{0,8}) of ([1-9]\d{0,8}) rows:$/

function readRows(
  lines: readonly string[],
  count: number,
): Pick<RowsChange, 'columns' | 'rows'> | null {
  const [head, ...body] = lines
  const columns = head === undefined ? null : readNames(head)
  if (columns === null || body.length !== count) return null
  const rows: (readonly ScalarValue[])[] = []
  for (const line of body) {
    const cells = readCells(line)
    if (cells?.length !== columns.length) return null
    rows.push(cells)
  }
  return { columns, rows }
}

/** A name, bare or in quotes; then a comma or the end. */
const NAME = /(?:[A-Za-z_][\w-]*|"(?:[^"\\]|\\.)*")/y
const STEP = /\[(0|[1-9]\d{0,8})\]/y
const TEXT = /"(?:[^"\\]|\\.)*"|[^",]+/y

function readPath(line: string): { readonly path: Path; readonly end: number } | null {
  const path: (string | number)[] = []
  let end = line.startsWith(ROOT) ? ROOT.length : 0
  for (;;) {
    const index = matchAt(STEP, line, end)
    if (index !== null && end > 0) {
      path.push(Number(index.slice(1, -1)))
      end += index.length
      continue
    }
    const isNext = path.length > 0 && line[end] === '.'
    const name = isNext || end === 0 ? matchAt(NAME, line, isNext ? end + 1 : end) : null
    if (name === null) return end === 0 || isNext ? null : { path, end }
    path.push(nameOf(name))
    end += name.length + (isNext ? 1 : 0)
  }
}

function readNames(line: string): readonly string[] | null {
  const names: string[] = []
  for (let at = 0; ; at++) {
    const name = matchAt(NAME, line, at)
    if (name === null) return null
    names.push(nameOf(name))
    at += name.length
    if (at === line.length) return names
    if (line[at] !== ',') return null
  }
}

function readCells(line: string): readonly ScalarValue[] | null {
  const cells: ScalarValue[] = []
  for (let at = 0; ; at++) {
    const text = matchAt(TEXT, line, at)
    const cell = text === null ? undefined : readCell(text)
    if (text === null || cell === undefined) return null
    cells.push(cell)
    at += text.length
    if (at === line.length) return cells
    if (line[at] !== ',') return null
  }
}

function readCell(text: string): ScalarValue | undefined {
  if (BARE_TEXT.test(text) && !LITERAL.test(text)) return text
  const parsed = parseJson(text)
  if (!parsed.ok) return undefined
  const { value } = parsed
  const isScalar = value === null || typeof value !== 'object' || value instanceof NumberLiteral
  return isScalar ? value : undefined
}

function nameOf(text: string): string {
  if (!text.startsWith('"')) return text
  const parsed = parseJson(text)
  return parsed.ok && typeof parsed.value === 'string' ? parsed.value : ''
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}
