import { randomUUID } from 'node:crypto'
import type { OfferTerms } from '../../core/enrich/projections.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { READ_OFFERS, type ReadOffers } from '../../core/operations/read-offers.ts'
import type { WorkerPool } from '../../pool/pool.ts'

/** Reads results in the worker threads. Returns `null` if that fails. Never rejects. */
export type OfferReader = (result: JsonBytes, terms: OfferTerms) => Promise<ReadOffers | null>

export interface OfferReaderNeeds {
  readonly pool: Pick<WorkerPool, 'run'>
  readonly tenant: string
  /** What reading one result may take, in milliseconds. */
  readonly timeoutMs: number
  onBug(error: unknown): void
}

export function createOfferReader(needs: OfferReaderNeeds): OfferReader {
  const { pool, tenant, timeoutMs, onBug } = needs
  return async (result, offers) => {
    try {
      const read = await pool.run({
        op: READ_OFFERS,
        tenant,
        media: 'json',
        accept: 'json',
        body: result,
        retained: true,
        requestId: randomUUID(),
        limitMs: timeoutMs,
        terms: { redeems: false, bypass: false, offers },
      })
      if (!read.ok) return null
      const { buffer, byteOffset, length } = read.body
      return JSON.parse(Buffer.from(buffer, byteOffset, length).toString()) as ReadOffers
    } catch (error) {
      onBug(error)
      return null
    }
  }
}
