import { randomUUID } from 'node:crypto'
import type { Enrichment } from '../../ahead/enrichment.ts'
import type { OfferTerms } from '../../core/enrich/projections.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { READ_OFFERS, type ReadOffers } from '../../core/operations/read-offers.ts'
import type { WorkerPool } from '../../pool/pool.ts'

/** A result that was fetched ahead, and what it offers in turn. */
export interface LandedResult extends Pick<ReadOffers, 'tokens' | 'calls'> {
  readonly bytes: JsonBytes
}

/** What a gateway is given if models of tools are to act. */
export interface EnrichmentNeeds {
  readonly shared: Enrichment<LandedResult>
  readonly read: OfferReader
  onBug(error: unknown): void
}

/** Reads results in the worker threads. Returns `null` if that fails. Never rejects. */
export type OfferReader = (result: JsonBytes, terms: OfferTerms) => Promise<ReadOffers | null>

/** @param limitMs what reading one result may take */
export function createOfferReader(
  pool: Pick<WorkerPool, 'run'>,
  { tenant, limitMs }: { readonly tenant: string; readonly limitMs: number },
  onBug: (error: unknown) => void,
): OfferReader {
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
        limitMs,
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
