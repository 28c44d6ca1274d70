import { hash } from 'node:crypto'
import { selectPart } from '../../src/core/parts/select-part.ts'
import type {
  Failure,
  Kept,
  Reference,
  Result,
  Store,
  StoredBody,
  TouchItem,
} from '../../src/store/store.ts'
import { fail } from '../../src/store/values/failure.ts'

interface Body extends StoredBody {
  /** With the digits that a reference to it has there at least. */
  readonly sessions: Map<string, number>
  expires_at: number
}

/** The calls of a store that sessions use, in a map. */
export function memoryStore(clock: { now: number } = { now: 0 }) {
  const tenants = new Map<string, Map<string, Body>>()
  const bodiesOf = (tenant: string) => {
    const bodies = tenants.get(tenant) ?? new Map<string, Body>()
    tenants.set(tenant, bodies)
    return bodies
  }

  function find({ tenant, ref, session }: Reference): Body | Failure {
    const all = [...bodiesOf(tenant).values()].filter(body => body.hash.startsWith(ref))
    const own = all.filter(({ sessions }) => ref.length >= (sessions.get(session ?? '') ?? 99))
    const found = own.length === 0 && ref.length >= 12 ? all : own
    if (found.length > 1) return fail('ambiguous', ref)
    if (found[0] === undefined) return fail('not_found', ref)
    return found[0].expires_at > clock.now ? found[0] : fail('gone', ref)
  }

  function prolong(body: Body, ttlMs = 0): Result<Kept> {
    body.expires_at = Math.max(body.expires_at, clock.now + ttlMs)
    return { ok: true, created: false, ...body }
  }

  const store = {
    async put(items: Parameters<Store['put']>[0]): Promise<Result<Kept>[]> {
      return items.map(({ tenant, body, mediaType: media_type, session, ref, ttlMs }) => {
        const bodies = bodiesOf(tenant)
        const id = hash('sha256', body, 'hex')
        const known = bodies.get(id)
        const digits = ref?.length ?? 8
        const twin = [...bodies.values()].find(({ hash: other, sessions }) => {
          const least = Math.max(digits, sessions.get(session ?? '') ?? 99)
          return other !== id && other.startsWith(id.slice(0, least))
        })
        if (twin !== undefined) return fail('ambiguous', id)
        const kept = known ?? {
          hash: id,
          body: Uint8Array.from(body),
          bytes: body.length,
          media_type,
          created_at: clock.now,
          expires_at: 0,
          sessions: new Map<string, number>(),
        }
        bodies.set(id, kept)
        if (session !== undefined)
          kept.sessions.set(session, Math.min(digits, kept.sessions.get(session) ?? 99))
        return prolong(kept, ttlMs)
      })
    },
    async touch(items: readonly TouchItem[]): Promise<Result<Kept>[]> {
      return items.map(item => {
        const body = find(item)
        return 'ok' in body ? body : prolong(body, item.ttlMs)
      })
    },
    async get(reference: Reference): Promise<Result<StoredBody>> {
      const body = find(reference)
      return 'ok' in body ? body : { ok: true, ...body }
    },
    async part(reference: Reference, selector: Parameters<Store['part']>[1]) {
      const body = find(reference)
      if ('ok' in body) return body
      return { ok: true as const, ...body, part: selectPart(body.body, selector) }
    },
    async purgeSession(tenant: string, session: string) {
      for (const [id, { sessions }] of bodiesOf(tenant)) {
        if (sessions.delete(session) && sessions.size === 0) bodiesOf(tenant).delete(id)
      }
      return { ok: true as const, bodies: 0, records: 0 }
    },
    /** As an operator does, behind the service's back. */
    purgeTenant: (tenant: string) => void tenants.delete(tenant),
  }
  return { store, clock }
}
