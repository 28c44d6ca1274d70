import { keyStability } from '../../../classify/json-shape.ts'
import type { ObjectValue, Value } from '../../../json/value.ts'
import { layoutOfShape, type ShapeLayout } from './choose-layout.ts'
import { joinKeyLists, type KeyList } from './key-lists.ts'
import { planColumns } from './plan-columns.ts'
import type { Pricer } from './pricer.ts'
import { flattenColumns, type Shape, Shapes, writeDeclaration } from './shape.ts'
import { writeBraces } from './write-inline.ts'

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
    const planned = planShape(objects, uses, names[shapes.all.length]!, pricer)
    if (planned === null) continue
    const { shape, cells } = planned
    if (savingOf(shape, cells, objects.length, pricer) > 0) shapes.add(shape, objects)
  }
  return shapes
}

/** @param uses objects that may have a shape, and how many may have the same */
function planShape(
  objects: readonly ObjectValue[],
  uses: ReadonlyMap<Value, number>,
  name: string,
  pricer: Pricer,
): { readonly shape: Shape; readonly cells: ShapeLayout } | null {
  const { minTableRows, minKeyStability } = pricer.style
  if (objects.length < Math.max(FEWEST_OBJECTS, minTableRows)) return null
  if (minKeyStability > 0 && keyStability(objects) < minKeyStability) return null
  const planned = planColumns(objects, pricer)
  if (planned === null) return null
  const columns = flattenColumns(planned, objects, uses)
  const cells = layoutOfShape(objects, columns, pricer)
  return { shape: { group: { kind: 'group', name, columns }, layout: cells.layout }, cells }
}

/** Tokens of the objects in braces without their shape, and in it, for all from a sample. */
function savingOf(shape: Shape, { sample, tokens }: ShapeLayout, count: number, pricer: Pricer) {
  const braces = sample.map(object => `\n${writeBraces(object)}`).join('')
  const saved = pricer.tokens(braces) - tokens - sample.length * NAME_TOKENS
  return (saved / sample.length) * count - pricer.tokens(`${writeDeclaration(shape)}\n`)
}
