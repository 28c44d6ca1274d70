import { hash } from 'node:crypto'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'

/** Names results by their conversation. */
export interface ResultKeys {
  /** The name of the next result, 64 hex digits. */
  next(result: ToolResultText): string
  /** Continues after the results that have these names. */
  resume(keys: readonly string[]): void
}

/** Between fields, each of which begins with its length. */
const FIELD_BYTES = 4
const INITIAL_BYTES = 1 << 16

/**
 * Names each result of a conversation by everything that its rewrite may depend on: the terms of
 * the request, and the results up to this one with their calls, byte for byte. Texts of users and
 * models between them are not part of the name. Configuration and version are not part of it
 * either, so a result is always sent as it was sent the first time.
 * @param terms of the request: tenant, model, and what its client can do
 */
export function createResultKeys(body: Uint8Array, terms: string): ResultKeys {
  let waiting = Buffer.allocUnsafe(INITIAL_BYTES)
  let length = waiting.write(hash('sha256', terms, 'hex'), 0, 'latin1')
  let index = 0

  function add(bytes: Uint8Array): void {
    const needed = length + FIELD_BYTES + bytes.length
    if (needed > waiting.length) {
      const larger = Buffer.allocUnsafe(2 * needed)
      waiting.copy(larger, 0, 0, length)
      waiting = larger
    }
    waiting.writeUInt32LE(bytes.length, length)
    waiting.set(bytes, length + FIELD_BYTES)
    length = needed
  }

  return {
    resume(keys) {
      if (keys.length === 0) return
      index = keys.length
      length = waiting.write(keys.at(-1)!, 0, 'latin1')
    },
    next(result) {
      const { start, end, tool, isError, ordinal, part, firstOfCall } = result
      add(Buffer.from(JSON.stringify([tool, isError, ordinal, part, ...unusual(result, index)])))
      // Arguments may be most of the body: once is enough.
      if (firstOfCall === index) add(result.argsBytes())
      index++
      add(body.subarray(start, end))
      const key = hash('sha256', waiting.subarray(0, length), 'hex')
      length = waiting.write(key, 0, 'latin1')
      return key
    },
  }
}

/** Fields that few results have. */
function unusual(
  { isWhole, callsAhead, firstOfCall, walls }: ToolResultText,
  index: number,
): readonly unknown[] {
  const isFirst = firstOfCall === index
  if (walls === 0 && isWhole && callsAhead === 0 && isFirst) return []
  const fields = [isWhole, callsAhead ?? null, isFirst ? null : firstOfCall]
  return walls === 0 ? fields : [...fields, walls]
}
