import { ObjectValue, type Value } from '../../../json/value.ts'
import type { Column, GroupColumn } from './column.ts'
import { LazyPiece, type Pricer, type ShapeWriter } from './pricer.ts'
import { NOT_IN_SHAPE } from './syntax.ts'
import type { Piece } from './trace.ts'
import { CONTAINER, writeInline } from './write-inline.ts'
import { RowWriter, writeHeader } from './write-table.ts'
import { isScalar } from './write-text.ts'

/**
 * The columns of objects that are written as a name and cells: `A(7,Ann)`. The group has its name,
 * and its columns as members.
 */
export type Shape = GroupColumn

/** The shapes of a document, and the objects that have one. */
export class Shapes implements ShapeWriter {
  readonly #all: Shape[] = []
  readonly #shapeOf = new Map<ObjectValue, Shape>()
  readonly #reaching = new Set<Value>()

  /** In the order of their declarations. */
  get all(): readonly Shape[] {
    return this.#all
  }

  add(shape: Shape, objects: readonly ObjectValue[]): void {
    this.#all.push(shape)
    for (const object of objects) this.#shapeOf.set(object, shape)
  }

  /** Looks for the containers of the document that reach a shape. Recursion is as deep as it is. */
  survey(document: Value): void {
    const look = (value: Value): boolean => {
      if (isScalar(value)) return false
      let reaches = value instanceof ObjectValue && this.#shapeOf.has(value)
      for (const member of value instanceof ObjectValue ? value.values : (value as Value[])) {
        if (look(member)) reaches = true
      }
      if (reaches) this.#reaching.add(value)
      return reaches
    }
    look(document)
  }

  reaches(value: Value): boolean {
    return this.#reaching.has(value)
  }

  write(value: ObjectValue): string | null {
    const shape = this.#shapeOf.get(value)
    return shape === undefined ? null : writeShaped(value, shape, this)
  }

  piece(value: ObjectValue, inner: readonly (Piece | null)[], pricer: Pricer): Piece | null {
    const shape = this.#shapeOf.get(value)
    if (shape === undefined) return null
    if (inner.every(piece => piece === null)) {
      const text = writeShaped(value, shape, this)
      return { text, tokens: pricer.tokens(text), surcharge: 0 }
    }
    const pieces = new Map<Value, Piece>()
    for (let i = 0; i < inner.length; i++) {
      const piece = inner[i]!
      if (piece !== null && typeof value.values[i] === 'object') pieces.set(value.values[i]!, piece)
    }
    let [tokens, surcharge] = [0, 0]
    const own = writeShaped(value, shape, this, nested => {
      const piece = pieces.get(nested)
      if (piece === undefined) return null
      tokens += piece.tokens
      surcharge += piece.surcharge
      return CONTAINER
    })
    const write = () => writeShaped(value, shape, this, nested => pieces.get(nested)?.text ?? null)
    return new LazyPiece(tokens + pricer.tokens(own), surcharge, write)
  }
}

/** The line that declares a shape: its name, and its columns in braces. */
export function writeDeclaration(shape: Shape): string {
  return writeHeader([shape])
}

/** @param inline the text of a container in a cell, if it is known */
function writeShaped(
  value: ObjectValue,
  { name, columns }: Shape,
  shapes: ShapeWriter,
  inline?: (nested: Value) => string | null,
): string {
  const writer = new RowWriter(shapes, NOT_IN_SHAPE)
  if (inline !== undefined) {
    writer.inline = nested => inline(nested) ?? writeInline(nested, shapes)
  }
  writer.startRow()
  writer.members(columns, value)
  return `${name}(${writer.out})`
}

/** Containers in containers that a cell or group may hold; those in cells are counted once more. */
const DEEPEST_GROUP = 3

/** Objects of a column, for each of its own columns, whose names in a header cost as much. */
const OBJECTS_PER_NAME = 1

/**
 * The columns, with a cell instead of groups, rows and constants in two cases. Cells of deep values
 * would be counted as part of each shape around them, and that would be too much work. Objects with
 * a shape that others have too need no header or constant of their own.
 * @param uses objects that may have a shape, and how many may have the same
 */
export function flattenColumns(
  columns: readonly Column[],
  objects: readonly ObjectValue[],
  uses: ReadonlyMap<Value, number>,
): readonly Column[] {
  const flat = new Set<string>()
  const nested = new Map(columns.filter(isNested).map(column => [column.name, column]))
  if (nested.size === 0) return columns
  for (const { keys, values } of objects) {
    for (let i = 0; i < keys.length; i++) {
      const column = nested.get(keys[i]!)
      if (column === undefined || flat.has(column.name)) continue
      const value = values[i]!
      const isDeepGroup = column.kind !== 'constant' && isDeep(value, DEEPEST_GROUP)
      if (isDeepGroup || isShared(value, objects.length, uses)) flat.add(column.name)
    }
  }
  return columns.map(column =>
    flat.has(column.name) ? { kind: 'cell', name: column.name } : column,
  )
}

function isNested(column: Column): boolean {
  return column.kind === 'group' || column.kind === 'rows' || column.kind === 'constant'
}

/** Whether other objects have the same shape, and the column has few. */
function isShared(value: Value, count: number, uses: ReadonlyMap<Value, number>): boolean {
  if (!(value instanceof ObjectValue)) return false
  const all = uses.get(value) ?? 0
  return all > count && count <= value.keys.length * OBJECTS_PER_NAME
}

/** Whether more than `levels` containers are in one another. Recursion is as deep as `levels`. */
function isDeep(value: Value, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  const members = value instanceof ObjectValue ? value.values : Array.isArray(value) ? value : null
  if (members === null) return false
  return levels === 0 || members.some(member => isDeep(member, levels - 1))
}
