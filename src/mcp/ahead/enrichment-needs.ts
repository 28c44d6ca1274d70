import type { Enrichment } from '../../ahead/enrichment.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { ReadOffers } from '../../core/operations/read-offers.ts'
import type { OfferReader } from './offer-reader.ts'

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
