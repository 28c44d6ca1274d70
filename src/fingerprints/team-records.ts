import { z } from 'zod'
import { DAY_MS, LIMITS } from '../core/fingerprints/fingerprint.ts'
import { AppError } from '../errors.ts'
import { failureProblem } from '../store/failure.ts'
import type { Failure, Store } from '../store/store.ts'

/** What the store keeps of teams: a list of each team's members, and a record of each member's upload. */
export interface TeamRecords {
  /** Names of a team's members, and of some whose records have expired; `null` where there is no team. */
  members(tenant: string, team: string): Promise<readonly string[] | null>
  /** Adds a member to the list, which must be durable before its record is written. @throws AppError `overloaded` where the team is full */
  join(tenant: string, team: string, member: string): Promise<void>
  read(tenant: string, team: string, member: string): Promise<StoredUpload | null>
  /** @returns whether it was written: `false` where the record is another one than was read, or it is not known whether it was written */
  write(
    at: { readonly tenant: string; readonly team: string; readonly member: string },
    bytes: Uint8Array,
    ifVersion: number,
  ): Promise<boolean>
}

export interface StoredUpload {
  readonly bytes: Uint8Array
  readonly version: number
}

/** The formats are in the names, so that another version's records are never taken for this one's. */
const UPLOADS = 'fingerprint_uploads.v1'
const TEAMS = 'fingerprint_teams.v1'
/** A record says which times were published: it must outlast every row that could share time with those. */
const RECORD_TTL_MS = LIMITS.keptMs + 2 * DAY_MS
/** The list outlasts the records, and is written again when it has grown this old. */
const LIST_TTL_MS = 2 * RECORD_TTL_MS
const LIST_REFRESH_MS = DAY_MS
/** How often a write is tried that another one came before. */
const MAX_ATTEMPTS = 20
const READS_AT_ONCE = 16

const listSchema = z.object({ written_at: z.int(), members: z.array(z.string()) })
type List = z.output<typeof listSchema>

/** @throws AppError, from each function, where the store does not do its work */
export function createTeamRecords(
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  now: () => number,
): TeamRecords {
  async function readList(tenant: string, team: string) {
    const found = await store.readRecord({ tenant, namespace: TEAMS, key: team })
    if (found.ok) return { list: parseList(found.value), version: found.version }
    if (found.reason === 'not_found') return { list: null, version: 0 }
    throw problem(found)
  }

  async function read(tenant: string, team: string, member: string): Promise<StoredUpload | null> {
    const key = `${team}/${member}`
    const found = await store.readRecord({ tenant, namespace: UPLOADS, key })
    if (found.ok) return { bytes: found.value, version: found.version }
    if (found.reason === 'not_found') return null
    throw problem(found)
  }

  /** Those of the members whose records have not expired. */
  async function present(tenant: string, team: string, members: readonly string[]) {
    const left: string[] = []
    for (let from = 0; from < members.length; from += READS_AT_ONCE) {
      const some = members.slice(from, from + READS_AT_ONCE)
      const records = await Promise.all(some.map(member => read(tenant, team, member)))
      left.push(...some.filter((_, index) => records[index] !== null))
    }
    return left
  }

  return {
    read,
    async members(tenant, team) {
      return (await readList(tenant, team)).list?.members ?? null
    },
    async join(tenant, team, member) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const { list, version } = await readList(tenant, team)
        const known = list?.members ?? []
        const isIn = known.includes(member)
        if (isIn && list !== null && now() - list.written_at < LIST_REFRESH_MS) return
        const others =
          isIn || known.length < LIMITS.members ? known : await present(tenant, team, known)
        if (!isIn && others.length >= LIMITS.members) throw FULL
        const next: List = { written_at: now(), members: isIn ? known : [...others, member] }
        const written = await store.writeRecord({
          tenant,
          namespace: TEAMS,
          key: team,
          value: Buffer.from(JSON.stringify(next)),
          ttlMs: LIST_TTL_MS,
          ifVersion: version,
        })
        if (written.ok) return
        if (written.reason !== 'conflict' && written.reason !== 'lost') throw problem(written)
      }
      throw CONTENDED
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
 * Repeats `attempt` until it gives something: what it read was changed by another before it wrote.
 * @throws AppError `overloaded` where that happens too often
 */
export async function untilWritten<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (let times = 0; times < MAX_ATTEMPTS; times += 1) {
    const done = await attempt()
    if (done !== null) return done
  }
  throw CONTENDED
}

const FULL = new AppError('overloaded', `the team has ${LIMITS.members} members`, {
  retry_after_s: 3_600,
})
const CONTENDED = new AppError('overloaded', 'the team is being written by others', {
  retry_after_s: 1,
})

/** A list that cannot be understood is as good as none: members come back with their next uploads. */
function parseList(bytes: Uint8Array): List | null {
  try {
    return listSchema.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    return null
  }
}

function problem(failure: Failure): AppError {
  const { code, detail, ...extras } = failureProblem(failure)
  return new AppError(code, detail, extras)
}
