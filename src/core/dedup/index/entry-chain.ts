import { commonDigits, sameIdentity } from './identity.ts'
import { ENTRY, ENTRY_WORDS, type IndexView, SESSION, SHARD, STATE } from './layout.ts'

/**
 * The entries of a session: a chain from its slot, the last used one first. All functions want the shard's lock, and
 * those that write want the session marked as dirty. `shard`, `session` and `at` are offsets in words.
 */

/** Shortest reference, in hexadecimal digits. */
const SHORTEST_REF = 8

/** One of `STATE`. The store's answer may change it at any moment, without the lock. */
export function stateOf({ words }: IndexView, at: number): number {
  return words[at + ENTRY.state]! & 3
}

/** Whether the entry belongs to the session's present partition and was not refused. */
export function isLive(view: IndexView, session: number, at: number): boolean {
  const state = stateOf(view, at)
  return (
    (state === STATE.pending || state === STATE.durable) &&
    view.words[at + ENTRY.epoch] === view.words[session + SESSION.epoch]
  )
}

/** False where no entry of the session begins with the same digits. */
function mayHave({ words }: IndexView, session: number, identity: Int32Array): boolean {
  const first = identity[0]!
  return ((words[session + SESSION.filter + ((first >>> 5) & 1)]! >>> (first & 31)) & 1) === 1
}

function addToFilter({ words }: IndexView, session: number, at: number): void {
  const first = words[at + ENTRY.identity]!
  words[session + SESSION.filter + ((first >>> 5) & 1)]! |= 1 << (first & 31)
}

function rebuildFilter(view: IndexView, session: number): void {
  const { words } = view
  words[session + SESSION.filter] = 0
  words[session + SESSION.filter + 1] = 0
  for (let at = words[session + SESSION.first]!; at !== 0; at = words[at + ENTRY.next]!) {
    addToFilter(view, session, at)
  }
}

/** The newest durable entry with this identity, and with the tool or number where given; 0 where there is none. */
export function findBody(
  view: IndexView,
  session: number,
  identity: Int32Array,
  toolHash?: number,
  sequence?: number,
): number {
  const { words } = view
  if (!mayHave(view, session, identity)) return 0
  let found = 0
  for (let at = words[session + SESSION.first]!; at !== 0; at = words[at + ENTRY.next]!) {
    if (!sameIdentity(words, at, identity)) continue
    if (stateOf(view, at) !== STATE.durable || !isLive(view, session, at)) continue
    if (toolHash !== undefined && words[at + ENTRY.tool] !== toolHash) continue
    if (sequence !== undefined && words[at + ENTRY.sequence] !== sequence) continue
    if (found === 0 || words[at + ENTRY.sequence]! > words[found + ENTRY.sequence]!) found = at
  }
  return found
}

/** The entry that this call was answered with, its own or by reference; 0 where there is none. */
export function findCall(
  view: IndexView,
  session: number,
  identity: Int32Array,
  callHash: number,
): number {
  const { words } = view
  if (!mayHave(view, session, identity)) return 0
  for (let at = words[session + SESSION.first]!; at !== 0; at = words[at + ENTRY.next]!) {
    if (!sameIdentity(words, at, identity) || !isLive(view, session, at)) continue
    if (words[at + ENTRY.call] === callHash || words[at + ENTRY.hitCall] === callHash) return at
  }
  return 0
}

/** Takes those that match out of the chain and frees them; says how many. */
export function removeEntries(
  view: IndexView,
  shard: number,
  session: number,
  matches: (at: number) => boolean,
): number {
  const { words } = view
  let removed = 0
  let link = session + SESSION.first
  for (let at = words[link]!; at !== 0; at = words[link]!) {
    if (matches(at)) {
      words[link] = words[at + ENTRY.next]!
      freeEntry(view, shard, at)
      removed++
    } else link = at + ENTRY.next
  }
  words[session + SESSION.length]! -= removed
  rebuildFilter(view, session)
  return removed
}

/** Frees an entry that the store refused, or else the least recently used one; the session must have one. */
export function removeLeast(view: IndexView, shard: number, session: number): void {
  const { words } = view
  let link = session + SESSION.first
  for (;;) {
    const at = words[link]!
    if (words[at + ENTRY.next] === 0 || stateOf(view, at) === STATE.refused) break
    link = at + ENTRY.next
  }
  const at = words[link]!
  words[link] = words[at + ENTRY.next]!
  words[session + SESSION.length]! -= 1
  freeEntry(view, shard, at)
  rebuildFilter(view, session)
}

/** Frees all entries of a session. */
export function freeChain(view: IndexView, shard: number, session: number): void {
  const { words } = view
  for (let at = words[session + SESSION.first]!; at !== 0; ) {
    const next = words[at + ENTRY.next]!
    freeEntry(view, shard, at)
    at = next
  }
  words[session + SESSION.first] = 0
  words[session + SESSION.length] = 0
  rebuildFilter(view, session)
}

/** Makes an entry of the session its last used one. */
export function touchEntry({ words }: IndexView, session: number, at: number): void {
  let link = session + SESSION.first
  if (words[link] === at) return
  while (words[link] !== at) link = words[link]! + ENTRY.next
  words[link] = words[at + ENTRY.next]!
  words[at + ENTRY.next] = words[session + SESSION.first]!
  words[session + SESSION.first] = at
}

/** Puts an entry before all others of the session. */
export function linkEntry(view: IndexView, session: number, at: number): void {
  const { words } = view
  addToFilter(view, session, at)
  words[at + ENTRY.next] = words[session + SESSION.first]!
  words[session + SESSION.first] = at
  words[session + SESSION.length]! += 1
}

/** A slot that no session has; 0 where the shard has none left. */
export function takeEntry(view: IndexView, shard: number): number {
  const { words } = view
  const fresh = words[shard + SHARD.freshEntry]!
  let at = words[shard + SHARD.freeEntry]!
  if (at !== 0) words[shard + SHARD.freeEntry] = words[at + ENTRY.next]!
  else if (fresh < view.entries) {
    words[shard + SHARD.freshEntry] = fresh + 1
    at = shard + view.entriesAt + fresh * ENTRY_WORDS
  } else return 0
  words[shard + SHARD.entries]! += 1
  return at
}

/** Puts a slot into the list of free ones. */
function freeEntry(view: IndexView, shard: number, at: number): void {
  clearEntry(view, shard, at)
  view.words[shard + SHARD.entries]! -= 1
}

/** The same for a slot that is not counted as used. */
export function clearEntry({ words }: IndexView, shard: number, at: number): void {
  // The stamp stays, so that tickets of the past never fit.
  words[at + ENTRY.state] = words[at + ENTRY.state]! & ~3
  words[at + ENTRY.next] = words[shard + SHARD.freeEntry]!
  words[shard + SHARD.freeEntry] = at
}

/** Makes the slot's body pending, with a new stamp, which it gives. Everything else is written before. */
export function stampPending({ words }: IndexView, at: number): number {
  const stamp = ((words[at + ENTRY.state]! >>> 2) + 1) & 0x3fffffff
  words[at + ENTRY.state] = (stamp << 2) | STATE.pending
  return stamp
}

/**
 * Digits that tell `identity` from the session's other identities. Entries that need more for that get a longer
 * reference from now on.
 */
export function referenceLength(view: IndexView, session: number, identity: Int32Array): number {
  const { words } = view
  if (!mayHave(view, session, identity)) return SHORTEST_REF
  let length = SHORTEST_REF
  for (let at = words[session + SESSION.first]!; at !== 0; at = words[at + ENTRY.next]!) {
    // With other first digits, the shortest reference is enough for both.
    if (words[at] !== identity[0]) continue
    const meta = words[at + ENTRY.meta]!
    if (sameIdentity(words, at, identity)) length = Math.max(length, meta >>> 8)
    else {
      const needed = commonDigits(words, at, identity) + 1
      length = Math.max(length, needed)
      if (needed > meta >>> 8) words[at + ENTRY.meta] = (needed << 8) | (meta & 0xff)
    }
  }
  return length
}
