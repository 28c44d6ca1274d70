import { stateOf } from './entry-chain.ts'
import { identityText } from './identity.ts'
import { ENTRY, type IndexView, STATE } from './layout.ts'
import { ANSWERS, type Entry, KINDS, type NewEntry } from './session-index.ts'

/** Writes all fields of an entry but its links and state. */
export function writeEntry(
  { words, floats }: IndexView,
  at: number,
  entry: NewEntry,
  digest: Int32Array,
  turn: { readonly sequence: number; readonly epoch: number },
  refLength: number,
): void {
  for (let i = 0; i < 8; i++) words[at + ENTRY.identity + i] = digest[i]!
  words[at + ENTRY.meta] =
    KINDS.indexOf(entry.kind) | (ANSWERS.indexOf(entry.answer) << 4) | (refLength << 8)
  words[at + ENTRY.sequence] = turn.sequence
  words[at + ENTRY.epoch] = turn.epoch
  words[at + ENTRY.bytes] = entry.bytes
  floats[(at + ENTRY.time) >> 1] = entry.timeMs
  words[at + ENTRY.tool] = entry.toolHash
  words[at + ENTRY.path] = entry.pathHash
  words[at + ENTRY.call] = entry.callHash
  words[at + ENTRY.of] = entry.of
  words[at + ENTRY.hitCall] = 0
  words[at + ENTRY.hitSequence] = 0
}

/** Reads an entry; its identity may be given where it is known as text. */
export function readEntry(
  view: IndexView,
  at: number,
  partition: number,
  identity = identityText(view.words, at),
): Entry {
  const { words, floats } = view
  const meta = words[at + ENTRY.meta]!
  return {
    identity,
    kind: KINDS[meta & 15]!,
    toolHash: words[at + ENTRY.tool]!,
    pathHash: words[at + ENTRY.path]!,
    callHash: words[at + ENTRY.call]!,
    bytes: words[at + ENTRY.bytes]! >>> 0,
    timeMs: floats[(at + ENTRY.time) >> 1]!,
    answer: ANSWERS[(meta >> 4) & 15]!,
    of: words[at + ENTRY.of]!,
    sequence: words[at + ENTRY.sequence]!,
    partition,
    ref: identity.slice(0, meta >>> 8),
    durable: stateOf(view, at) === STATE.durable,
  }
}
