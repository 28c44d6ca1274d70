import { hash } from 'node:crypto'

const RUN_ID = /run_id:(\w+)/
const HISTORY = /master_replid:(\w+)/
const OFFSET = /master_repl_offset:(\d+)/
const REPLICA = /^slave\d+:.*state=online,offset=(\d+)/gm
const NAME_DIGITS = 8

/**
 * Names what a server remembers: it differs after a restart, a failover and a flush, since each may
 * have lost writes.
 * @param infos answers to `INFO` of all primaries
 * @param fence what a process has written when the server was empty
 */
export function generationOf(infos: readonly string[], fence: string): string {
  const ids = infos.map(info => `${RUN_ID.exec(info)?.[1]} ${HISTORY.exec(info)?.[1]}`)
  return hash('sha256', JSON.stringify([ids.sort(), fence])).slice(0, NAME_DIGITS)
}

/** Until when a primary's writes are on a replica. */
export class Replication {
  /** The primary's offsets, with when they were asked for; the oldest first. */
  #marks: { readonly askedMs: number; readonly offset: number }[] = []
  #safeMs = Number.NEGATIVE_INFINITY
  #hadReplicaMs = Number.NEGATIVE_INFINITY

  /** @param info the primary's answer @param askedMs when it was asked */
  heard(info: string, askedMs: number): void {
    const acknowledged = [...info.matchAll(REPLICA)].map(([, offset]) => Number(offset))
    if (acknowledged.length > 0) this.#hadReplicaMs = askedMs
    else if (askedMs - this.#hadReplicaMs > FORGOTTEN_MS) {
      // It has none, so there is nothing to wait for.
      this.#marks = []
      this.#safeMs = askedMs
      return
    }
    const most = acknowledged.reduce((a, b) => Math.max(a, b), -1)
    const next = this.#marks.findIndex(({ offset }) => offset > most)
    const passed = next < 0 ? this.#marks.length : next
    if (passed > 0) this.#safeMs = this.#marks[passed - 1]!.askedMs
    this.#marks.splice(0, passed)
    this.#marks.push({ askedMs, offset: Number(OFFSET.exec(info)?.[1] ?? 0) })
    // A replica that stays away for long: every other mark is enough.
    if (this.#marks.length > MAX_MARKS) this.#marks = this.#marks.filter((_, i) => i % 2 === 1)
  }

  /** What was written before this moment is on a replica, if there is one. */
  get safeMs(): number {
    return this.#safeMs
  }

  /** Another primary's offsets have nothing to do with these. */
  reset(): void {
    this.#marks = []
    this.#safeMs = Number.NEGATIVE_INFINITY
  }
}

/** After so long a primary whose replicas are away counts as one that has none. */
const FORGOTTEN_MS = 600_000
const MAX_MARKS = 1_000
