import { hasMoreNodes, type Value } from '../../../json/value.ts'
import type { TokenCounter } from '../../../tokens/counter.ts'
import type { ExplainedPart, JsonFormat } from '../json-format.ts'
import { encodeDocument } from './encode-document.ts'
import { createPricer } from './pricer.ts'
import { decodeTree } from './read-tree.ts'
import { FEWEST_TOKENS, type TreeStyle } from './style.ts'
import { createTrace } from './trace.ts'

/**
 * The ways to write a part take some hundred bytes for each of its nodes. Larger values are left to
 * compact JSON.
 */
const MAX_NODES = 2_000_000

/** Steps of a character, of an object or array, and of a member. */
const CHAR_STEPS = 30
const CONTAINER_STEPS = 3000
const MEMBER_STEPS = 250

/**
 * Lines for objects, tables for lists of objects, brackets for small parts: each part in the
 * cheapest way.
 */
export const tree: JsonFormat = {
  id: 'tree',
  version: 2,
  accepts: value => value !== null && typeof value === 'object' && !hasMoreNodes(value, MAX_NODES),
  steps: ({ chars, containers, members }) =>
    chars * CHAR_STEPS + containers * CONTAINER_STEPS + members * MEMBER_STEPS,
  encode: (value, counter) => encodeDocument(value, createPricer(counter))?.text ?? null,
  explain: (value, counter) => explainTree(value, counter, FEWEST_TOKENS),
  decode: decodeTree,
}

/** The same format, written in another style. Reading is the same. */
export function treeInStyle(style: TreeStyle): JsonFormat {
  return {
    ...tree,
    encode: (value, counter) => encodeDocument(value, createPricer(counter, style))?.text ?? null,
    weigh(value, counter) {
      const document = encodeDocument(value, createPricer(counter, style))
      if (document === null) return null
      const { text, surcharge, uses, tokens } = document
      return { content: text, surcharge, uses, ...(tokens === undefined ? {} : { tokens }) }
    },
    explain: (value, counter) => explainTree(value, counter, style),
  }
}

function explainTree(
  value: Value,
  counter: TokenCounter,
  style: TreeStyle,
): readonly ExplainedPart[] {
  const trace = createTrace()
  encodeDocument(value, createPricer(counter, style, trace))
  return trace.parts()
}
