import { clearEntry, nextOf } from './entry-chain.ts'
import { ENTRY_WORDS, type IndexView, SESSION, SESSION_WORDS, SHARD } from './layout.ts'
import { linkSession } from './session-table.ts'

/**
 * Makes a shard whole after its writer ended in the middle: the session that was being written is
 * dropped, because its words may be half old and half new; all lists, which the writer may have had
 * open too, are built again from the other sessions. Wants the shard's lock, the dead writer's or
 * one's own.
 */
export function repairShard(view: IndexView, shard: number): void {
  const { words, floats } = view
  const dirty = words[shard + SHARD.dirty]!
  if (dirty !== 0) words[dirty + SESSION.epoch] = 0
  words.fill(0, shard + view.bucketsAt, shard + view.bucketsAt + view.bucketMask + 1)
  for (const list of [
    'sessions',
    'entries',
    'freeSession',
    'freeEntry',
    'newest',
    'oldest',
  ] as const)
    words[shard + SHARD[list]] = 0
  const live: number[] = []
  for (let i = 0; i < words[shard + SHARD.freshSession]!; i++) {
    const at = shard + view.sessionsAt + i * SESSION_WORDS
    if (words[at + SESSION.epoch] !== 0) live.push(at)
    else {
      words[at + SESSION.bucketNext] = words[shard + SHARD.freeSession]!
      words[shard + SHARD.freeSession] = at
    }
  }
  const seen = (at: number) => floats[(at + SESSION.seen) >> 1]!
  for (const at of live.sort((a, b) => seen(a) - seen(b))) linkSession(view, shard, at)
  rebuildFreeEntries(view, shard, live)
  words[shard + SHARD.dirty] = 0
}

/** Every slot that no session's chain holds is free. */
function rebuildFreeEntries(view: IndexView, shard: number, sessions: readonly number[]): void {
  const { words } = view
  const first = shard + view.entriesAt
  const used = new Uint8Array(words[shard + SHARD.freshEntry]!)
  for (const session of sessions) {
    let at = words[session + SESSION.leastUsed]!
    for (let left = words[session + SESSION.length]!; left > 0; left--, at = nextOf(view, at)) {
      used[(at - first) / ENTRY_WORDS] = 1
      words[shard + SHARD.entries]! += 1
    }
  }
  for (let i = 0; i < used.length; i++) {
    if (used[i] === 0) clearEntry(view, shard, first + i * ENTRY_WORDS)
  }
}
