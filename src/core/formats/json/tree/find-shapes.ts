import { keyStability } from '../../../classify/json-shape.ts'
import type { ObjectValue, Value } from '../../../json/value.ts'
import { layoutOfShape } from './choose-layout.ts'
import { joinKeyLists, type KeyList } from './key-lists.ts'
import { planColumns } from './plan-columns.ts'
import type { Pricer } from './pricer.ts'
import { flattenColumns, type Shape, Shapes, writeDeclaration } from './shape.ts'
import { writeBraces } from './write-inline.ts'

const FEWEST_OBJECTS = 2

/** Objects of a shape on which its saving is estimated. */
const SAMPLE = 24

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
  const columns = flattenColumns(planned, objects, uses)
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
