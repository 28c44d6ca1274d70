import { ObjectValue, type Value } from '../../../json/value.ts'
import { encodeTree } from './encode-tree.ts'
import { findShapes, keepShapes } from './find-shapes.ts'
import { collectKeyLists } from './key-lists.ts'
import { maySave } from './may-save.ts'
import type { Pricer } from './pricer.ts'
import { readTree } from './read-tree.ts'
import { type Shapes, writeDeclaration } from './shape.ts'
import { freeNames } from './shape-names.ts'
import type { Piece } from './trace.ts'

/**
 * The value as `encodeTree` writes it, or with declared shapes if that takes fewer tokens; `null`
 * for a scalar.
 */
export function encodeDocument(value: Value, pricer: Pricer): Piece | null {
  const { trace, ...silent } = pricer
  const plain = encodeTree(value, silent)
  if (plain === null) return null
  const shapes = usefulShapes(value, plain.text, silent)
  const shaped = shapes === null ? null : withShapes(value, shapes, silent)
  const isShorter = shaped !== null && shaped.tokens < pricer.tokens(plain.text)
  if (trace !== undefined) {
    encodeTree(value, isShorter && shapes !== null ? { ...pricer, shapes } : pricer)
  }
  return isShorter ? shaped : plain
}

/** Shapes that may be worth their declarations; `null` if there are none. */
function usefulShapes(value: Value, plain: string, pricer: Pricer): Shapes | null {
  const { tableCost, bracketCost, maxBracketChars } = pricer.style
  if (tableCost !== 1 || bracketCost !== 1 || maxBracketChars !== Number.POSITIVE_INFINITY) {
    return null
  }
  const lists = collectKeyLists(value)
  if (!maySave(lists, plain, pricer)) return null
  const names = freeNames(value)
  const tried = findShapes(lists, names, pricer)
  if (tried.all.length === 0) return null
  const { text } = withShapes(value, tried, pricer)
  const shapes = keepShapes(tried, shapedObjects(value, text), names, pricer)
  return shapes.all.length === 0 ? null : shapes
}

/** Declarations, and the document that uses them. */
function withShapes(value: Value, shapes: Shapes, pricer: Pricer): Piece {
  const body = encodeTree(value, { ...pricer, shapes })!
  return pricer.piece([...shapes.all.map(writeDeclaration), body.text].join('\n'))
}

/** The objects of the value that the text writes in their shapes. Linear, and without recursion. */
function shapedObjects(value: Value, text: string): readonly ObjectValue[] {
  const read = new Set<Value>()
  const again = readTree(text, object => read.add(object))
  const objects: ObjectValue[] = []
  const open: [readonly Value[], readonly Value[]][] = [[[value], [again]]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [members, others] = pair
    for (let i = 0; i < members.length; i++) {
      const member = members[i]!
      const other = others[i]!
      if (member instanceof ObjectValue) {
        if (read.has(other)) objects.push(member)
        open.push([member.values, (other as ObjectValue).values])
      } else if (Array.isArray(member)) open.push([member, other as readonly Value[]])
    }
  }
  return objects
}
