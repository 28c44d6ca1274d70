import type { ObjectValue } from '../../../json/value.ts'
import { layoutOfShape } from './choose-layout.ts'
import { joinKeyLists, type KeyList } from './key-lists.ts'
import { planColumns } from './plan-columns.ts'
import type { Pricer } from './pricer.ts'
import { flattenColumns, type Shape, Shapes, writeDeclaration } from './shape.ts'
import { writeBraces } from './write-inline.ts'

/** Objects of a shape on which its saving is estimated. */
const SAMPLE = 24

/** Shapes with these names for these objects. */
export function findShapes(
  lists: readonly KeyList[],
  names: readonly string[],
  pricer: Pricer,
): Shapes {
  const shapes = new Shapes()
  for (const family of joinKeyLists(lists, names.length)) {
    const objects = family.lists.flatMap(list => list.objects)
    const shape = planShape(objects, names[shapes.all.length]!, pricer)
    if (shape !== null) shapes.add(shape, objects)
  }
  return shapes
}

/** The shapes that save more on these objects than their declarations cost, planned for them. */
export function keepShapes(
  shapes: Shapes,
  used: readonly ObjectValue[],
  names: readonly string[],
  pricer: Pricer,
): Shapes {
  const objectsOf = new Map<Shape, ObjectValue[]>(shapes.all.map(shape => [shape, []]))
  for (const object of used) objectsOf.get(shapes.of(object)!)!.push(object)
  const kept = new Shapes()
  for (const objects of objectsOf.values()) {
    const shape = planShape(objects, names[kept.all.length]!, pricer)
    if (shape !== null && savingOf(shape, objects, pricer) > 0) kept.add(shape, objects)
  }
  return kept
}

function planShape(objects: readonly ObjectValue[], name: string, pricer: Pricer): Shape | null {
  if (objects.length < 2) return null
  const planned = planColumns(objects, pricer)
  if (planned === null) return null
  const columns = flattenColumns(planned, objects)
  const layout = layoutOfShape(objects, columns, pricer)
  return { group: { kind: 'group', name, columns }, layout }
}

/** Tokens that these objects take less than in braces, the declaration's own subtracted. */
function savingOf(shape: Shape, objects: readonly ObjectValue[], pricer: Pricer): number {
  const step = Math.max(1, objects.length / SAMPLE)
  const sample: ObjectValue[] = []
  for (let at = 0; at < objects.length; at += step) sample.push(objects[Math.floor(at)]!)
  const shapes = new Shapes()
  shapes.add(shape, sample)
  const braces = sample.map(object => writeBraces(object, shapes)).join('\n')
  const shaped = sample.map(object => shapes.write(object)!).join('\n')
  const saved = pricer.tokens(braces) - pricer.tokens(shaped)
  return (saved / sample.length) * objects.length - pricer.tokens(`${writeDeclaration(shape)}\n`)
}
