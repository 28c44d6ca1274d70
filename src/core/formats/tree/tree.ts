import { hasMoreNodes } from '../../value/has-more-nodes.ts'
import type { Notation } from '../notation.ts'
import { encodeTree } from './encode-tree.ts'
import { createPricer } from './pricer.ts'
import { decodeTree } from './read-tree.ts'

/** The ways to write a part take some hundred bytes for each of its nodes; beyond, compact JSON has to do. */
const MAX_NODES = 2_000_000

/** Lines for objects, tables for lists of objects, brackets for what is small: each part the cheapest way. */
export const tree: Notation = {
  id: 'tree',
  version: 1,
  accepts: value => value !== null && typeof value === 'object' && !hasMoreNodes(value, MAX_NODES),
  encode: (value, counter) => encodeTree(value, createPricer(counter)),
  decode: decodeTree,
}
