import { type JsonBytes, memberOf, members, RANGE } from '../../../core/json/bytes/json-node.ts'
import { readJson } from '../../../core/json/bytes/read-json.ts'
import { OPEN_BRACE } from '../../../core/json/char-codes.ts'
import {
  errorOutcome,
  type Message,
  type Outcome,
  RPC_ERRORS,
  readMessage,
} from '../../json-rpc.ts'

/** Bytes that are no message. */
export interface UnreadableMessage {
  readonly kind: 'unreadable'
  /** `null` if there is none that could be read. */
  readonly id: JsonBytes | null
  readonly outcome: Outcome
}

const ID = members({ id: RANGE })

/** Reads one message, or says as exactly as JSON-RPC demands why there is none. */
export function readModernMessage(bytes: JsonBytes): Message | UnreadableMessage {
  const message = readMessage(bytes)
  if (message !== null) return message
  const limits = { maxBytes: bytes.length, maxDepth: 10_000, maxValues: 3 }
  const root = readJson(bytes, ID, limits)
  if (root === null) return unreadable(null, RPC_ERRORS.parse, 'the body is not readable as JSON')
  if (bytes[root.start] !== OPEN_BRACE) {
    return unreadable(null, RPC_ERRORS.invalidRequest, 'one message is wanted, and no batch')
  }
  const node = root.doubled ? undefined : memberOf(root, 'id')
  const id = node === undefined ? null : bytes.subarray(node.start, node.end)
  const isId = id !== null && /^["\d-]/.test(id.toString('latin1', 0, 1))
  return unreadable(isId ? id : null, RPC_ERRORS.invalidRequest, 'not a message of JSON-RPC 2.0')
}

function unreadable(id: JsonBytes | null, code: number, message: string): UnreadableMessage {
  return { kind: 'unreadable', id, outcome: errorOutcome(code, message) }
}
