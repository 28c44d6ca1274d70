import type { ResultPlace, ResultTerms } from '../contract/request-terms.ts'
import { items, members, RANGE } from '../json/bytes/json-node.ts'
import { readJson } from '../json/bytes/read-json.ts'
import { sessionKey } from '../sessions/index/session-index.ts'
import type { ByteOperation, OperationContext } from './operation.ts'

import { PACK_RESULT, ResultPacker, UNCHANGED } from './result-packer.ts'

const BLOCK = members({
  type: RANGE,
  text: RANGE,
  annotations: members({ audience: items(RANGE) }),
})
const CONTENTS = items(members({ uri: RANGE, text: RANGE }))
const RESULT = members({
  content: items(BLOCK),
  structuredContent: RANGE,
  isError: RANGE,
  contents: CONTENTS,
})

/** Selected values of one result: some tens of thousands of blocks. */
const MAX_VALUES = 200_000

/** The result of an MCP tool call, a JSON object, with smaller texts if possible. */
export const packResultOperation: ByteOperation = {
  kind: 'bytes',
  name: PACK_RESULT,
  run(body, context) {
    const terms = context.terms?.result
    if (terms === undefined) throw new Error('a result needs terms')
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const limits = { maxBytes: bytes.length, maxDepth: context.maxDepth, maxValues: MAX_VALUES }
    if (context.isPaused) return UNCHANGED
    const root = readJson(bytes, RESULT, limits)
    // If a member is there twice, parsers may read either one.
    if (root === null) return UNCHANGED
    if (terms.of !== 'strings' && (root.members === null || root.doubled)) return UNCHANGED
    const place = presentPlace(context, terms)
    const packer = new ResultPacker(bytes, { ...terms, place }, withPlace(context, place))
    if (terms.of === 'strings') return packer.escapeOnly(root)
    return terms.of === 'resource' ? packer.packResource(root) : packer.pack(root)
  },
}

/** `undefined` if the result stands alone, or if its context has ended since its call came. */
function presentPlace(
  { sessions }: OperationContext,
  { place }: ResultTerms,
): ResultPlace | undefined {
  if (sessions === undefined || place === undefined) return undefined
  const present = sessions.index.present(sessionKey(sessions.tenant, place.session))
  return present?.epoch === place.epoch ? place : undefined
}

/** The context with the result's place in its session; without sessions if it has none. */
function withPlace(context: OperationContext, place: ResultPlace | undefined): OperationContext {
  const { sessions, ...rest } = context
  if (sessions === undefined || place === undefined) return rest
  const { sequence, epoch } = place
  return { ...rest, sessions: { ...sessions, counted: { sequence, epoch } } }
}
