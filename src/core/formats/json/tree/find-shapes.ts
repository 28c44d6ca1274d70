import { keyStability } from '../../../classify/json-shape.ts'
import type { ObjectValue, Value } from '../../../json/value.ts'
import { jsonLength } from '../../../json/write-json.ts'
import type { Column } from './column.ts'
import { joinKeyLists, type KeyList } from './key-lists.ts'
import { planColumns } from './plan-columns.ts'
import type { Pricer } from './pricer.ts'
import { flattenColumns, type Shape, Shapes, writeDeclaration } from './shape.ts'
import { writeBraces } from './write-inline.ts'
import { RowWriter } from './write-table.ts'

const FEWEST_OBJECTS = 2

/** Tokens of a shape's name and parentheses, beyond the line feed that a sample has for each. */
const NAME_TOKENS = 1

/** Shapes with these names, of objects that they save more on than their declarations cost. */
export function findShapes(
  lists: readonly KeyList[],
  names: readonly string[],
  pricer: Pricer,
): Shapes {
  const shapes = new Shapes()
  const families = joinKeyLists(lists, names.length).map(family =>
    family.lists.flatMap(list => list.objects),
  )
  const uses = new Map<Value, number>()
  for (const objects of families) for (const object of objects) uses.set(object, objects.length)
  for (const objects of families) {
    const shape = planShape(objects, uses, names[shapes.all.length]!, pricer)
    if (shape !== null && savingOf(shape, objects, pricer) > 0) shapes.add(shape, objects)
  }
  return shapes
}

/** @param uses objects that may have a shape, and how many may have the same */
function planShape(
  objects: readonly ObjectValue[],
  uses: ReadonlyMap<Value, number>,
  name: string,
  pricer: Pricer,
): Shape | null {
  const { minTableRows, minKeyStability } = pricer.style
  if (objects.length < Math.max(FEWEST_OBJECTS, minTableRows)) return null
  if (minKeyStability > 0 && keyStability(objects) < minKeyStability) return null
  const planned = planColumns(objects, pricer)
  if (planned === null) return null
  return { kind: 'group', name, columns: flattenColumns(planned, objects, uses) }
}

/** Tokens of the objects in braces without their shape, and in it, for all from a sample. */
function savingOf(shape: Shape, objects: readonly ObjectValue[], pricer: Pricer): number {
  const sample = sampleOf(objects)
  const braces = sample.map(object => `\n${writeBraces(object)}`).join('')
  const cells = pricer.tokens(cellsOf(sample, shape.columns))
  const saved = pricer.tokens(braces) - cells - sample.length * NAME_TOKENS
  return (saved / sample.length) * objects.length - pricer.tokens(`${writeDeclaration(shape)}\n`)
}

/** A line of cells for each object. */
function cellsOf(objects: readonly ObjectValue[], columns: readonly Column[]): string {
  const writer = new RowWriter(undefined)
  for (const object of objects) {
    writer.out += '\n'
    writer.startRow()
    writer.members(columns, object)
  }
  return writer.out
}

/** Objects that represent all of a shape, and their length as JSON at most. */
const SAMPLE = 24
const SAMPLE_CHARS = 16_000

/** Some of the objects, one at least. */
function sampleOf(objects: readonly ObjectValue[]): readonly ObjectValue[] {
  const step = Math.max(1, objects.length / SAMPLE)
  const sample: ObjectValue[] = []
  let left = SAMPLE_CHARS
  for (let at = 0; at < objects.length; at += step) {
    const object = objects[Math.floor(at)]!
    left -= jsonLength(object, left)
    if (left < 0 && sample.length > 0) break
    sample.push(object)
  }
  return sample
}
