import type { PartSelector } from '../core/parts/part.ts'
import type { TextBytes } from '../core/transport/text-bytes.ts'
import { AppError } from '../errors.ts'
import { failureProblem } from './failure.ts'
import type { Kept, Reference, Result, Store, StoredBody, StoredPart } from './store.ts'

/** How long a tenant's bodies are kept, in milliseconds. */
export interface Lifetimes {
  /** Behind a marker, and inputs. */
  readonly originalMs: number
  /** Referred to within a session: at least as long as that goes on. */
  readonly sessionMs: number
}

/** Texts that can be fetched back: what the rest of the service sees of the store. */
export interface Originals {
  /**
   * Keeps a text; resolves once it is durable. Until `expires_at` nothing but a purge removes it.
   * @param session whose references it may be resolved by
   * @throws AppError `overloaded` where there is no room, `payload_too_large`, `internal`
   */
  keep(tenant: string, text: TextBytes, session?: string): Promise<Kept>
  /**
   * A whole text, or a part of it.
   * @throws AppError `not_found`, `gone`, `ambiguous`, `invalid_request`, `overloaded`
   */
  fetch(reference: Reference): Promise<StoredBody>
  fetchPart(reference: Reference, selector: PartSelector): Promise<StoredPart>
}

/** @param lifetimes asked each time, because a reload may change them */
export function createOriginals(
  store: Pick<Store, 'put' | 'get' | 'part'>,
  lifetimes: (tenant: string) => Lifetimes,
  now: () => number,
): Originals {
  return {
    async keep(tenant, { bytes, media_type }, session) {
      const { originalMs, sessionMs } = lifetimes(tenant)
      const ttlMs = session === undefined ? originalMs : Math.max(originalMs, sessionMs)
      const item = { tenant, body: bytes, mediaType: media_type, ttlMs, pinUntil: now() + ttlMs }
      const [kept] = await store.put([session === undefined ? item : { ...item, session }])
      if (kept === undefined) throw new Error('the store gave no answer to a put')
      return valueOr(kept)
    },
    fetch: async reference => valueOr(await store.get(reference)),
    fetchPart: async (reference, selector) => valueOr(await store.part(reference, selector)),
  }
}

function valueOr<T>(result: Result<T>): T {
  if (result.ok) return result
  const { code, detail, ...extras } = failureProblem(result)
  throw new AppError(code, detail, extras)
}
