import { keyStability } from '../../../classify/json-shape.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import { jsonLength } from '../../../json/write-json.ts'
import type { Uses } from '../../../reading/constructs.ts'
import { isPriced, readingPrice } from '../../../reading/price.ts'
import type { Column } from './column.ts'
import { type Forms, pricerWith } from './draft.ts'
import { encodeTree } from './encode-tree.ts'
import { collectKeyLists, joinKeyLists, type KeyList } from './key-lists.ts'
import { planColumns } from './plan-columns.ts'
import type { Pricer } from './pricer.ts'
import { flattenColumns, type Shape, Shapes, writeDeclaration } from './shape.ts'
import { weighsBrackets } from './style.ts'
import { SHAPE_NAMES } from './syntax.ts'
import { addUses, priceOfUses, usesOf } from './uses.ts'
import { writeBraces } from './write-inline.ts'
import { RowWriter } from './write-table.ts'
import { type WrittenText, writtenLists } from './written-lists.ts'

const FEWEST_OBJECTS = 2

/** Tokens of a shape's name and parentheses, beyond the line feed that a sample has for each. */
const NAME_TOKENS = 1

/** Shapes with these names, of objects that they save more on than their declarations cost. */
function findShapes(lists: readonly KeyList[], names: readonly string[], pricer: Pricer): Shapes {
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

/** Beginnings of strings, also of those in strings that are JSON, that read like a shape's name. */
const LIKE_SHAPE = /(?:^|")([A-Za-z])\(/g
/** Keys in strings that are JSON. */
const LIKE_KEY = /"([A-Za-z])\\*"/g

/**
 * The names that no string of the value begins with, a parenthesis after it, and that are no key:
 * so no bare string reads like an object in its shape. Linear, and without recursion.
 */
function freeNames(value: Value): readonly string[] {
  const taken = new Set<string>()
  const keyLists = new Set<readonly string[]>()
  const open: (readonly Value[])[] = [[value]]
  for (let level = open.pop(); level !== undefined; level = open.pop()) {
    for (const member of level) {
      if (typeof member === 'string') takeFrom(member, taken)
      else if (member instanceof ObjectValue) {
        keyLists.add(member.keys)
        open.push(member.values)
      } else if (Array.isArray(member)) open.push(member)
    }
  }
  for (const keys of keyLists) for (const key of keys) if (key.length === 1) taken.add(key)
  return SHAPE_NAMES.filter(name => !taken.has(name))
}

function takeFrom(text: string, taken: Set<string>): void {
  if (text.includes('(')) for (const [, name] of text.matchAll(LIKE_SHAPE)) taken.add(name!)
  if (text.includes('"')) for (const [, name] of text.matchAll(LIKE_KEY)) taken.add(name!)
}

/** A text with its surcharge, without the prices of `uses`, and its tokens if they were counted. */
interface Document {
  readonly text: string
  readonly surcharge: number
  readonly uses: Uses
  readonly tokens: number | undefined
}

/**
 * The value as `encodeTree` writes it, or with declared shapes if that costs less; `null` for a
 * scalar.
 */
export function encodeDocument(value: Value, pricer: Pricer): Document | null {
  const { trace } = pricer
  const silent = pricerWith(pricer, { trace: undefined, shapes: undefined })
  const plain = encodeTree(value, silent)
  if (plain === null) return null
  const { reading } = pricer.style
  const { text, uses = {} } = plain.shown
  const surcharge = plain.shown.surcharge - priceOfUses(uses, reading)
  // The tokens of the parts do not always add up, so the whole is counted, at most once.
  let counted: number | undefined
  const tokens = () => (counted ??= pricer.tokens(text))
  const shapes = usefulShapes(value, { text, tokens }, silent)
  const shaped = shapes === null ? null : withShapes(value, shapes, plain, silent)
  const price = (uses: Uses, tokens: number) => tokens + readingPrice(reading, uses, tokens)
  const isBetter = shaped !== null && price(shaped.uses, shaped.tokens) < price(uses, tokens())
  if (trace !== undefined) {
    const used = isBetter && shapes !== null ? shapes : undefined
    encodeTree(value, pricerWith(pricer, { trace, shapes: used }))
  }
  return isBetter ? shaped : { text, surcharge, uses, tokens: counted }
}

/** Shapes that may be worth their declarations; `null` if there are none. */
function usefulShapes(value: Value, plain: WrittenText, pricer: Pricer): Shapes | null {
  const { style } = pricer
  const { reading } = style
  if (reading.prices.shape === null) return null
  if (isPriced(reading, 'table') || weighsBrackets(style)) return null
  const lists = writtenLists(collectKeyLists(value), plain, pricer)
  if (lists.length === 0) return null
  const shapes = findShapes(lists, freeNames(value), pricer)
  if (shapes.all.length === 0) return null
  shapes.survey(value)
  return shapes
}

/**
 * Declarations of the shapes that the document uses, and the document.
 * @param plain the document without shapes
 */
function withShapes(
  value: Value,
  shapes: Shapes,
  plain: Forms,
  pricer: Pricer,
): Document & { readonly tokens: number } {
  const shaping = pricerWith(pricer, { trace: undefined, shapes })
  const { text: body, uses } = encodeTree(value, shaping, plain.draft)!.shown
  const used = shapes.all.filter(({ name }) => body.includes(`${name}(`))
  const text = [...used.map(writeDeclaration), body].join('\n')
  const all = { ...addUses(uses, usesOf(used)), shape: used.length }
  return { text, surcharge: 0, uses: all, tokens: pricer.tokens(text) }
}
