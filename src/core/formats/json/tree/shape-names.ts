import { ObjectValue, type Value } from '../../../json/value.ts'
import { SHAPE_NAMES } from './syntax.ts'

/** Beginnings of strings, also of those in strings that are JSON, that read like a shape's name. */
const LIKE_SHAPE = /(?:^|")([A-Za-z])\(/g
/** Keys in strings that are JSON. */
const LIKE_KEY = /"([A-Za-z])\\*"/g

/**
 * The names that no string of the value begins with, a parenthesis after it, and that are no key:
 * so no bare string reads like an object in its shape. Linear, and without recursion.
 */
export function freeNames(value: Value): readonly string[] {
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
