import { z } from 'zod'
import { AppError } from '../core/base/errors.ts'
import { DAY_MS, LIMITS } from '../core/fingerprints/fingerprint.ts'
import { failureProblem } from '../store/failure.ts'
import type { Failure, Store } from '../store/store.ts'

/**
 * What the store keeps of teams: a list of each team's members, and a record of each member's
 * upload.
 */
export interface TeamRecords {
  /**
   * Records of a team's members, by their names, without those that cannot be read any more; `null`
   * if there is no team.
   */
  all(tenant: string, team: string): Promise<readonly Uint8Array[] | null>
  /**
   * Adds a member to the list, which must be durable before its record is written.
   * @param rows of the record
   * @throws AppError `overloaded` if the team is full
   */
  join(at: MemberKey, rows: number): Promise<void>
  /** @throws AppError `gone` if it cannot be read any more */
  read(tenant: string, team: string, member: string): Promise<StoredUpload | null>
  /**
   * @returns whether it was written: `false` if the record is another one than was read, or it
   * is not known whether it was written
   */
  write(at: MemberKey, bytes: Uint8Array, ifVersion: number): Promise<boolean>
}

interface MemberKey {
  readonly tenant: string
  readonly team: string
  readonly member: string
}

export interface StoredUpload {
  readonly bytes: Uint8Array
  readonly version: number
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
/** Rows of all records of a team: a merge goes through all of them. */
const MAX_TEAM_ROWS = 1_000_000
/** How often a write is tried if another process writes first. */
const MAX_ATTEMPTS = 20
const READS_AT_ONCE = 8

/**
 * Names of members, about when they uploaded, Unix milliseconds, and the rows of their records at
 * most.
 */
const listSchema = z.array(z.tuple([z.string(), z.int(), z.int()]))
type List = z.output<typeof listSchema>

/** @throws AppError, from each function, if the store does not do its work */
export function createTeamRecords(
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  now: () => number,
): TeamRecords {
  /** Members of a team often upload at the same time of day; all of them change the list. */
  const joins = createTurns()

  /**
   * `list` is `null` if there is none. One that cannot be read may be written again: members come
   * back with their next uploads.
   */
  async function readList(tenant: string, team: string) {
    const found = await store.readRecord({ tenant, namespace: TEAMS, key: team })
    if (found.ok) return { list: parseList(found.value), ifVersion: found.version }
    if (found.reason === 'not_found') return { list: null, ifVersion: 0 }
    if (found.reason === 'gone') return { list: [] }
    throw problem(found)
  }

  async function find(tenant: string, team: string, member: string) {
    return store.readRecord({ tenant, namespace: UPLOADS, key: `${team}/${member}` })
  }

  async function join({ tenant, team, member }: MemberKey, rows: number): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { list, ...condition } = await readList(tenant, team)
      const known = list ?? []
      const at = now()
      const isListed = known.some(
        ([name, seen, most]) => name === member && at - seen < LIST_REFRESH_MS && rows <= most,
      )
      if (isListed) return
      const others = known.filter(([name, seen]) => name !== member && at - seen < LISTED_MS)
      const all = others.reduce((sum, [, , each]) => sum + each, rows)
      if (others.length >= LIMITS.members || all > MAX_TEAM_ROWS) throw FULL
      const next: List = [...others, [member, at, rows]]
      const written = await store.writeRecord({
        tenant,
        namespace: TEAMS,
        key: team,
        value: Buffer.from(JSON.stringify(next)),
        ttlMs: LISTED_MS,
        ...condition,
      })
      if (written.ok) return
      if (written.reason !== 'conflict' && written.reason !== 'lost') throw problem(written)
    }
    throw CONTENDED
  }

  return {
    async all(tenant, team) {
      const { list } = await readList(tenant, team)
      if (list === null) return null
      const members = list.map(([name]) => name).sort()
      const records: Uint8Array[] = []
      for (let from = 0; from < members.length; from += READS_AT_ONCE) {
        const some = members.slice(from, from + READS_AT_ONCE)
        for (const found of await Promise.all(some.map(member => find(tenant, team, member)))) {
          if (found.ok) records.push(found.value)
          // One that cannot be read any more is no reason to show nothing of the others.
          else if (found.reason !== 'not_found' && found.reason !== 'gone') throw problem(found)
        }
      }
      return records
    },
    join: (at, rows) => joins.inTurn(`${at.tenant}\n${at.team}`, () => join(at, rows)),
    async read(tenant, team, member) {
      const found = await find(tenant, team, member)
      if (found.ok) return { bytes: found.value, version: found.version }
      if (found.reason === 'not_found') return null
      throw found.reason === 'gone' ? UNREADABLE : problem(found)
    },
    async write({ tenant, team, member }, bytes, ifVersion) {
      const written = await store.writeRecord({
        tenant,
        namespace: UPLOADS,
        key: `${team}/${member}`,
        value: bytes,
        ttlMs: RECORD_TTL_MS,
        ifVersion,
      })
      if (written.ok) return true
      if (written.reason === 'conflict' || written.reason === 'lost') return false
      throw problem(written)
    },
  }
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
export interface Turns {
  /** What `work` returns, or throws, once it had its turn. */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T>
}

export function createTurns(): Turns {
  /** The end of the last one of each key. */
  const ends = new Map<string, Promise<void>>()

  return {
    inTurn(key, work) {
      const turn = (ends.get(key) ?? Promise.resolve()).then(work)
      const ended = () => {
        if (ends.get(key) === end) ends.delete(key)
      }
      const end: Promise<void> = turn.then(ended, ended)
      ends.set(key, end)
      return turn
    },
  }
}
