/**
 * The entries of a session: a ring in order of use, from its slot. All functions want the shard's
 * lock, and those that write want the session marked as dirty. `shard`, `session` and `at` are
 * offsets in words.
 */
import { clearFilter, mayHave, noteUse } from './filter.ts'
import { commonDigits, sameIdentity } from './identity.ts'
import { ENTRY, ENTRY_WORDS, type IndexView, SESSION, SHARD, STATE } from './layout.ts'

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

/**
 * The newest durable entry with this identity, and with the tool or number if given; 0 if there is
 * none.
 */
export function findBody(
  view: IndexView,
  session: number,
  identity: Int32Array,
  toolHash?: number,
  sequence?: number,
): number {
  const { words } = view
  if (!mayHave(view, session, identity[0]!)) return 0
  let found = 0
  let at = words[session + SESSION.leastUsed]!
  for (let left = words[session + SESSION.length]!; left > 0; left--, at = nextOf(view, at)) {
    if (!sameIdentity(words, at, identity)) continue
    if (stateOf(view, at) !== STATE.durable || !isLive(view, session, at)) continue
    if (toolHash !== undefined && words[at + ENTRY.tool] !== toolHash) continue
    if (sequence !== undefined && words[at + ENTRY.sequence] !== sequence) continue
    if (found === 0 || words[at + ENTRY.sequence]! >= words[found + ENTRY.sequence]!) found = at
  }
  return found
}

/**
 * The last used entry that this call was answered with, its own or by reference; 0 if there is
 * none.
 */
export function findCall(
  view: IndexView,
  session: number,
  identity: Int32Array,
  callHash: number,
): number {
  const { words } = view
  if (!mayHave(view, session, identity[0]!)) return 0
  let found = 0
  let at = words[session + SESSION.leastUsed]!
  for (let left = words[session + SESSION.length]!; left > 0; left--, at = nextOf(view, at)) {
    if (!sameIdentity(words, at, identity) || !isLive(view, session, at)) continue
    if (words[at + ENTRY.call] === callHash || words[at + ENTRY.hitCall] === callHash) found = at
  }
  return found
}

/** The next later used entry. The least used one follows the last used one. */
export function nextOf({ words }: IndexView, at: number): number {
  return words[at + ENTRY.next]!
}

/** Takes the matching entries out of the chain and frees them. Returns their number. */
export function removeEntries(
  view: IndexView,
  shard: number,
  session: number,
  matches: (at: number) => boolean,
): number {
  const { words } = view
  const length = words[session + SESSION.length]!
  let at = words[session + SESSION.leastUsed]!
  words[session + SESSION.length] = 0
  clearFilter(view, session)
  for (let left = length; left > 0; left--) {
    const next = nextOf(view, at)
    if (matches(at)) freeEntry(view, shard, at)
    else linkEntry(view, session, at)
    at = next
  }
  return length - words[session + SESSION.length]!
}

/** Frees all entries of a session. */
export function freeChain(view: IndexView, shard: number, session: number): void {
  const { words } = view
  let at = words[session + SESSION.leastUsed]!
  for (let left = words[session + SESSION.length]!; left > 0; left--) {
    const next = nextOf(view, at)
    freeEntry(view, shard, at)
    at = next
  }
  words[session + SESSION.length] = 0
  clearFilter(view, session)
}

/** Frees the least used entry of a session that has one. */
export function freeLeast(view: IndexView, shard: number, session: number): void {
  const { words } = view
  const at = words[session + SESSION.leastUsed]!
  words[session + SESSION.leastUsed] = nextOf(view, at)
  words[words[session + SESSION.lastUsed]! + ENTRY.next] = nextOf(view, at)
  words[session + SESSION.length]! -= 1
  freeEntry(view, shard, at)
}

/**
 * Returns the place of an entry that is removed, as the last used one. It is the last entry if the
 * store refused that, so that a full store costs no other entry. Otherwise it is the least used
 * entry. No other entry is read.
 */
export function replaceEntry(view: IndexView, session: number): number {
  const { words } = view
  const last = words[session + SESSION.lastUsed]!
  if (stateOf(view, last) === STATE.refused) {
    // The entry is removed before older ones, which the filter does not allow for.
    rebuildFilter(view, session)
    return last
  }
  // The ring does not change, only its ends move on.
  const at = words[session + SESSION.leastUsed]!
  words[session + SESSION.lastUsed] = at
  words[session + SESSION.leastUsed] = nextOf(view, at)
  return at
}

/** Makes the filter from the entries that are in the chain now. */
function rebuildFilter(view: IndexView, session: number): void {
  const { words } = view
  clearFilter(view, session)
  let at = words[session + SESSION.leastUsed]!
  for (let left = words[session + SESSION.length]!; left > 0; left--, at = nextOf(view, at)) {
    noteUse(view, session, at)
  }
}

/** Makes an entry of the session its last used one. */
export function touchEntry(view: IndexView, session: number, at: number): void {
  const { words } = view
  const last = words[session + SESSION.lastUsed]!
  if (last !== at) {
    let before = last
    while (nextOf(view, before) !== at) before = nextOf(view, before)
    words[before + ENTRY.next] = nextOf(view, at)
    if (words[session + SESSION.leastUsed] === at)
      words[session + SESSION.leastUsed] = nextOf(view, at)
    words[session + SESSION.length]! -= 1
    linkLast(view, session, at)
  }
  noteUse(view, session, at)
}

/** Adds an entry, its identity written, as the last used one of the session. */
function linkEntry(view: IndexView, session: number, at: number): void {
  linkLast(view, session, at)
  noteUse(view, session, at)
}

/** The same before the entry's identity is known; call `noteUse` later. */
export function linkLast({ words }: IndexView, session: number, at: number): void {
  if (words[session + SESSION.length] === 0) {
    words[session + SESSION.leastUsed] = at
  } else {
    words[words[session + SESSION.lastUsed]! + ENTRY.next] = at
  }
  words[at + ENTRY.next] = words[session + SESSION.leastUsed]!
  words[session + SESSION.lastUsed] = at
  words[session + SESSION.length]! += 1
}

/** Takes a free slot; 0 if the shard has none. */
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

/**
 * Makes the slot's body pending, with a new stamp, which it gives. Everything else is written
 * before.
 */
export function stampPending({ words }: IndexView, at: number): number {
  const stamp = ((words[at + ENTRY.state]! >>> 2) + 1) & 0x3fffffff
  words[at + ENTRY.state] = (stamp << 2) | STATE.pending
  return stamp
}

/**
 * Digits that distinguish `identity` from the session's other identities. Entries that need more
 * for that get a longer reference from now on.
 * @param own the entry that is to have it, whose words are still old
 */
export function referenceLength(
  view: IndexView,
  session: number,
  identity: Int32Array,
  own: number,
): number {
  const { words } = view
  if (!mayHave(view, session, identity[0]!)) return SHORTEST_REF
  let length = SHORTEST_REF
  let at = words[session + SESSION.leastUsed]!
  for (let left = words[session + SESSION.length]!; left > 0; left--, at = nextOf(view, at)) {
    // With other first digits, the shortest reference is enough for both.
    if (words[at] !== identity[0] || at === own) continue
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
