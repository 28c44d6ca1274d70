/**
 * A thread that uses the index as hard as it can, on sessions and bodies that all threads share,
 * and ends with an error at the first answer that cannot be true: an entry of another tenant or
 * session, or one that is half another.
 */
import { hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { attachIndex } from '../../../../src/core/sessions/index/attach.ts'
import {
  type Entry,
  type NewEntry,
  type SessionKey,
  sessionKey,
} from '../../../../src/core/sessions/index/session-index.ts'
import { createRandom } from '../../../../src/lab/bill/statistics.ts'

export interface StormSetup {
  readonly memory: SharedArrayBuffer
  readonly owner: number
  /** Operations to do; the thread ends sooner where `control[0]` is set. */
  readonly operations: number
  /** Names of sessions, the same ones for each tenant. */
  readonly sessions: number
  /** [stop, operations done by owner 1, by owner 2, …] */
  readonly control: SharedArrayBuffer
  /**
   * Compact, invalidate and close as well; without, every result and token can be accounted for.
   */
  readonly destructive: boolean
}

/** What a thread did. */
export interface StormReport {
  readonly results: number
  readonly matches: number
  readonly recorded: number
  /** Sums of the sequence numbers that it was given, by session. */
  readonly sequences: readonly number[]
}

export const TENANTS = ['a', 'b']
const BODIES = Array.from({ length: 64 }, (_, i) => hash('sha256', `body ${i}`))
const LRU = 5

/** All sessions of all tenants; entries carry the position in this list as their size. */
export function stormKeys(sessions: number): SessionKey[] {
  return TENANTS.flatMap(tenant =>
    Array.from({ length: sessions }, (_, i) => sessionKey(tenant, `session ${i}`)),
  )
}

/** The only entry that a body can have in a session; every field follows from the two. */
function entryOf(session: number, body: number): NewEntry {
  return {
    identity: BODIES[body]!,
    kind: body % 2 === 0 ? 'file-read' : 'other',
    toolHash: body * 3 + 1,
    pathHash: ~body,
    callHash: 0,
    bytes: session,
    timeMs: session * 1000 + body,
    answer: body % 3 === 0 ? 'full' : 'lines',
    of: session + body,
  }
}

function verify(found: Entry, session: number, body: number, newest: number): void {
  const { sequence, partition, ref, durable, ...known } = found
  const expected = JSON.stringify(Object.entries(entryOf(session, body)).sort())
  const shown = JSON.stringify(Object.entries(known).sort())
  if (shown !== expected) throw new Error(`a torn or foreign entry: ${shown} for ${expected}`)
  if (ref !== BODIES[body]!.slice(0, 8)) throw new Error(`a wrong reference: ${ref}`)
  if (!durable || sequence >= newest || partition < 0) throw new Error('a result of the future')
}

function storm(setup: StormSetup): StormReport {
  const control = new Int32Array(setup.control)
  const index = attachIndex(setup.memory, { owner: setup.owner })
  const keys = stormKeys(setup.sessions)
  const random = createRandom(setup.owner)
  const sequences = keys.map(() => 0)
  let [results, matches, recorded] = [0, 0, 0]
  for (; results < setup.operations && Atomics.load(control, 0) === 0; results++) {
    const [session, body] = [random(keys.length), random(BODIES.length)]
    const [key, entry] = [keys[session]!, entryOf(session, body)]
    const turn = index.begin(key, { timeMs: results, identity: entry.identity })
    sequences[session]! += turn.sequence
    if (turn.match !== null) {
      verify(turn.match, session, body, turn.sequence)
      index.refer(turn, turn.match, 0)
      matches++
    } else {
      const ticket = index.record(turn, entry, { lruSize: LRU })
      if (ticket !== null && random(8) > 0) index.commit(ticket, random(8) > 0)
      recorded++
    }
    index.count(key, { baseline_tokens: 3 })
    if (setup.destructive) destroy(index, key, random(1000), body)
    Atomics.add(control, setup.owner, 1)
  }
  return { results, matches, recorded, sequences }
}

function destroy(
  index: ReturnType<typeof attachIndex>,
  key: SessionKey,
  choice: number,
  body: number,
): void {
  if (choice < 5) index.compact(key)
  else if (choice < 10) index.close(key)
  else if (choice < 40) index.invalidate(key, { pathHash: ~body })
  else if (choice < 60) index.entries(key, { pending: true })
}

if (parentPort !== null) parentPort.postMessage(storm(workerData as StormSetup))
