import { stateOf } from './entry-chain.ts'
import { identityText } from './identity.ts'
import { ENTRY, type IndexView, SESSION, STATE } from './layout.ts'
import { ANSWERS, type Entry, KINDS, type NewEntry } from './session-index.ts'

const MOST_AGE = 2 ** 31 - 1

/** Writes all fields of an entry but its links and state. */
export function writeEntry(
  { words, floats }: IndexView,
  session: number,
  at: number,
  entry: NewEntry,
  facts: { readonly digest: Int32Array; readonly sequence: number; readonly refLength: number },
): void {
  const { digest, sequence, refLength } = facts
  for (let i = 0; i < 8; i++) words[at + ENTRY.identity + i] = digest[i]!
  words[at + ENTRY.meta] =
    KINDS.indexOf(entry.kind) | (ANSWERS.indexOf(entry.answer) << 4) | (refLength << 8)
  words[at + ENTRY.sequence] = sequence
  words[at + ENTRY.epoch] = words[session + SESSION.epoch]!
  words[at + ENTRY.bytes] = entry.bytes
  // 24 days have room.
  const age = entry.timeMs - floats[(session + SESSION.opened) >> 1]!
  words[at + ENTRY.time] = Math.max(-MOST_AGE, Math.min(age, MOST_AGE))
  words[at + ENTRY.tool] = entry.toolHash
  words[at + ENTRY.path] = entry.pathHash
  words[at + ENTRY.call] = entry.callHash
  words[at + ENTRY.of] = entry.of
  words[at + ENTRY.hitCall] = 0
  words[at + ENTRY.hitSequence] = 0
}

/** Reads an entry. The caller may pass its identity if it is known as text. */
export function readEntry(
  view: IndexView,
  session: number,
  at: number,
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
    timeMs: floats[(session + SESSION.opened) >> 1]! + words[at + ENTRY.time]!,
    answer: ANSWERS[(meta >> 4) & 15]!,
    of: words[at + ENTRY.of]!,
    sequence: words[at + ENTRY.sequence]!,
    partition: words[session + SESSION.partition]!,
    ref: identity.slice(0, meta >>> 8),
    durable: stateOf(view, at) === STATE.durable,
  }
}
