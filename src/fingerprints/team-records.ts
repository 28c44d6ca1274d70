import { z } from 'zod'
import { AppError } from '../core/base/errors.ts'
import { DAY_MS, LIMITS } from '../core/fingerprints/fingerprint.ts'
import type { Failure, RecordKey, Store, StoredRecord } from '../store/store.ts'
import { failureProblem } from '../store/values/failure.ts'

interface MemberKey {
  readonly tenant: string
  readonly team: string
  readonly member: string
}

/**
 * The formats are in the names, so that records of another version are never read as this one's.
 */
const UPLOADS = 'fingerprint_uploads.v2'
const TEAMS = 'fingerprint_teams.v3'
/**
 * A record has the times that were published. So it must live longer than every row that could
 * share time with those.
 */
const RECORD_TTL_MS = LIMITS.keptMs + 2 * DAY_MS
/** The list's entry for a member is at most so much older than its record. */
const LIST_REFRESH_MS = DAY_MS
const LISTED_MS = RECORD_TTL_MS + LIST_REFRESH_MS
/** Rows of all records of a team: a merge goes through all of them, in about 10 s. */
const MAX_TEAM_ROWS = 500_000
/** How often a write is tried if another process writes first. */
const MAX_ATTEMPTS = 20
const READS_AT_ONCE = 8

/**
 * Names of members, about when they uploaded, Unix milliseconds, and the rows of their records at
 * most.
 */
const listSchema = z.array(z.tuple([z.string(), z.int(), z.int()]))
type List = z.output<typeof listSchema>

/**
 * What the store keeps of teams: a list of each team's members, and a record of each member's
 * upload. Every method throws an AppError if the store does not do its work.
 */
export class TeamRecords {
  readonly #store: Pick<Store, 'readRecord' | 'writeRecord'>
  readonly #now: () => number
  /** Members of a team often upload at the same time of day; all of them change the list. */
  readonly #joins = new Turns()

  constructor(store: Pick<Store, 'readRecord' | 'writeRecord'>, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /**
   * Records of a team's members, by their names, without those that cannot be read any more; `null`
   * if there is no team.
   */
  async all(tenant: string, team: string): Promise<readonly Uint8Array[] | null> {
    const { list } = await this.#readList(tenant, team)
    if (list === null) return null
    const members = list.map(([name]) => name).sort()
    const records: Uint8Array[] = []
    for (let from = 0; from < members.length; from += READS_AT_ONCE) {
      const some = members.slice(from, from + READS_AT_ONCE)
      const read = some.map(member => this.#store.readRecord(keyOf({ tenant, team, member })))
      for (const found of await Promise.all(read)) {
        if (found.ok) records.push(found.value)
        // One that cannot be read any more is no reason to show nothing of the others.
        else if (found.reason !== 'not_found' && found.reason !== 'gone') throw problem(found)
      }
    }
    return records
  }

  /**
   * Adds a member to the list, which must be durable before its record is written.
   * @param rows of the record
   * @throws AppError `overloaded` if the team is full
   */
  async join(at: MemberKey, rows: number): Promise<void> {
    await this.#joins.inTurn(`${at.tenant}\n${at.team}`, () => this.#join(at, rows))
  }

  /** `null` if there is none. @throws AppError `gone` if it cannot be read any more */
  async read(at: MemberKey): Promise<StoredRecord | null> {
    const found = await this.#store.readRecord(keyOf(at))
    if (found.ok) return found
    if (found.reason === 'not_found') return null
    throw found.reason === 'gone' ? UNREADABLE : problem(found)
  }

  /**
   * @returns whether it was written: `false` if the record is another one than was read, or it
   * is not known whether it was written
   */
  async write(at: MemberKey, value: Uint8Array, ifVersion: number): Promise<boolean> {
    const write = { ...keyOf(at), value, ttlMs: RECORD_TTL_MS, ifVersion }
    const written = await this.#store.writeRecord(write)
    if (written.ok) return true
    if (written.reason === 'conflict' || written.reason === 'lost') return false
    throw problem(written)
  }

  /**
   * `list` is `null` if there is none. One that cannot be read may be written again: members come
   * back with their next uploads.
   */
  async #readList(tenant: string, team: string) {
    const found = await this.#store.readRecord({ tenant, namespace: TEAMS, key: team })
    if (found.ok) return { list: parseList(found.value), ifVersion: found.version }
    if (found.reason === 'not_found') return { list: null, ifVersion: 0 }
    if (found.reason === 'gone') return { list: [] }
    throw problem(found)
  }

  #join({ tenant, team, member }: MemberKey, rows: number): Promise<true> {
    return untilWritten(async () => {
      const { list, ...condition } = await this.#readList(tenant, team)
      const known = list ?? []
      const at = this.#now()
      const isListed = known.some(
        ([name, seen, most]) => name === member && at - seen < LIST_REFRESH_MS && rows <= most,
      )
      if (isListed) return true
      const others = known.filter(([name, seen]) => name !== member && at - seen < LISTED_MS)
      const all = others.reduce((sum, [, , each]) => sum + each, rows)
      if (others.length >= LIMITS.members || all > MAX_TEAM_ROWS) throw FULL
      const next: List = [...others, [member, at, rows]]
      const value = Buffer.from(JSON.stringify(next))
      const write = { tenant, namespace: TEAMS, key: team, value, ttlMs: LISTED_MS, ...condition }
      const written = await this.#store.writeRecord(write)
      if (written.ok) return true
      if (written.reason !== 'conflict' && written.reason !== 'lost') throw problem(written)
      return null
    })
  }
}

function keyOf({ tenant, team, member }: MemberKey): RecordKey {
  return { tenant, namespace: UPLOADS, key: `${team}/${member}` }
}

/**
 * Repeats `attempt` while it returns `null`: another process changed what it read before it wrote.
 * @throws AppError `overloaded` if that happens too often
 */
export async function untilWritten<T>(attempt: (times: number) => Promise<T | null>): Promise<T> {
  for (let times = 0; times < MAX_ATTEMPTS; times += 1) {
    const done = await attempt(times)
    if (done !== null) return done
  }
  throw CONTENDED
}

const FULL = new AppError(
  'overloaded',
  `the team is full: ${LIMITS.members} members, or ${MAX_TEAM_ROWS} rows`,
  { retry_after_s: 3_600 },
)
const CONTENDED = new AppError('overloaded', 'the team is being written by others', {
  retry_after_s: 1,
})
const UNREADABLE = new AppError(
  'gone',
  'the earlier upload of this member cannot be read any more, so what it published is unknown; ' +
    'upload as another member, the same rows or later days',
)

const AWAY = new AppError('overloaded', 'the store cannot be used', { retry_after_s: 30 })

/** A list that cannot be read counts as none. */
function parseList(bytes: Uint8Array): List {
  try {
    return listSchema.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    return []
  }
}

function problem(failure: Failure): AppError {
  // If the store is not available now, or its disk fails, it recovers by itself, so the client may
  // retry.
  if (failure.reason === 'failed' || failure.reason === 'unavailable') return AWAY
  return AppError.of(failureProblem(failure))
}

/** Does work of the same key one after the other, in the order in which it came. */
export class Turns {
  /** The end of the last one of each key. */
  readonly #ends = new Map<string, Promise<void>>()

  /** What `work` returns, or throws, once it had its turn. */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#ends.get(key) ?? Promise.resolve()).then(work)
    const ended = () => {
      if (this.#ends.get(key) === end) this.#ends.delete(key)
    }
    const end: Promise<void> = turn.then(ended, ended)
    this.#ends.set(key, end)
    return turn
  }
}
