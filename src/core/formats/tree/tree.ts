import type { Notation } from '../notation.ts'
import { encodeTree } from './encode-tree.ts'
import { createPricer } from './pricer.ts'
import { decodeTree } from './read-tree.ts'

/** Lines for objects, tables for lists of objects, brackets for what is small: each part the cheapest way. */
export const tree: Notation = {
  id: 'tree',
  version: 1,
  accepts: value => value !== null && typeof value === 'object',
  encode: (value, counter) => encodeTree(value, createPricer(counter)),
  decode: decodeTree,
}
