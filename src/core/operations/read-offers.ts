import { type OfferedCall, projectCalls } from '../enrich/projections.ts'
import { readTrigger, type TriggerResult } from '../enrich/result-values.ts'
import {
  items,
  itemsOf,
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  parseAt,
  RANGE,
  textOf,
} from '../json/bytes/json-node.ts'
import { readJson } from '../json/bytes/read-json.ts'
import { parseJson } from '../json/parse-json.ts'
import type { Value } from '../json/value.ts'
import { resolveTokenizer } from '../tokens/profiles.ts'
import type { ByteOperation } from './operation.ts'

/** The name of the operation, for the pool. */
export const READ_OFFERS = 'read_offers'

/** What a result holds for the planner. Plain data. */
export interface ReadOffers {
  /** Whether it is a complete result, and no error, task or wish for input. */
  readonly isComplete: boolean
  readonly asksForInput: boolean
  /** Tokens of its text, in the default vocabulary. */
  readonly tokens: number
  /** By link, in the order of the terms. */
  readonly calls: readonly (readonly OfferedCall[])[]
}

const BLOCK = members({ type: RANGE, text: RANGE })
const RESULT = members({
  content: items(BLOCK),
  structuredContent: RANGE,
  isError: RANGE,
  resultType: RANGE,
  task: RANGE,
})
/** Selected values of one result. */
const MAX_VALUES = 200_000

/**
 * Reads the result of an MCP tool call for calls that may come next, and counts its tokens. The
 * answer is `ReadOffers` as JSON. A body that is no result offers nothing.
 */
export const readOffersOperation: ByteOperation = {
  kind: 'bytes',
  name: READ_OFFERS,
  run(body, { terms, counters, maxDepth }) {
    const { links, args } = terms?.offers ?? { links: [] }
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const limits = { maxBytes: bytes.length, maxDepth, maxValues: MAX_VALUES }
    const root = readJson(bytes, RESULT, limits)
    const text = root === null || root.doubled ? '' : textOfResult(bytes, root)
    const counter = counters.get(resolveTokenizer({}))
    const triggerArgs = readValue(args)
    const trigger: TriggerResult | null = links.length === 0 ? null : readTrigger(text)
    const offers: ReadOffers = {
      isComplete: root !== null && !root.doubled && isComplete(bytes, root),
      asksForInput: textOf(bytes, memberOf(root ?? undefined, 'resultType')) === 'input_required',
      tokens: counter.count(text),
      calls: links.map(({ link, inputSchema, takesOver }) => {
        const schema = readValue(inputSchema)
        // What cannot be read could refuse anything.
        if (trigger === null || (inputSchema !== undefined && schema === undefined)) return []
        return projectCalls(link, trigger, {
          inputSchema: schema,
          triggerArgs: takesOver ? triggerArgs : undefined,
        })
      }),
    }
    const answer = Buffer.from(JSON.stringify(offers))
    return { bytes: answer, reports: [], records: [], keep: [], markers: [] }
  },
}

/** The structured value if there is one, since the texts repeat it; else the texts. */
function textOfResult(bytes: JsonBytes, root: JsonNode): string {
  const structured = memberOf(root, 'structuredContent')
  if (structured !== undefined) return bytes.toString('utf8', structured.start, structured.end)
  const texts = itemsOf(memberOf(root, 'content')).flatMap(block => {
    const text = memberOf(block, 'text')
    if (block.doubled || text === undefined) return []
    const value = textOf(bytes, memberOf(block, 'type')) === 'text' ? parseAt(bytes, text) : null
    return typeof value === 'string' ? [value] : []
  })
  return texts.join('\n')
}

function isComplete(bytes: JsonBytes, root: JsonNode): boolean {
  const isError = memberOf(root, 'isError')
  if (isError !== undefined && parseAt(bytes, isError) !== false) return false
  const type = memberOf(root, 'resultType')
  if (type !== undefined && textOf(bytes, type) !== 'complete') return false
  return memberOf(root, 'task') === undefined
}

function readValue(json: Uint8Array | undefined): Value | undefined {
  if (json === undefined) return undefined
  const parsed = parseJson(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString())
  return parsed.ok ? parsed.value : undefined
}
