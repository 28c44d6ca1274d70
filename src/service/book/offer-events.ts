import type { DecidedEvent, EnrichmentObserver } from '../../ahead/enrichment.ts'
import type { FetchEvent, OfferedFacts } from '../../ahead/prefetch.ts'
import type { ArrivedOffer } from '../../book/arrivals.ts'
import type { Book } from '../../book/book.ts'
import { MAX_DECLINES } from '../../core/telemetry/event.ts'

/**
 * Writes an event for each offered call, once it is known whether the agent made it, for each fetch
 * that has ended, for each result of whose calls some were declined, and for each unsent call.
 * Sizes that were predicted are in those of fetches.
 */
export function createOfferEvents(book: Pick<Book, 'offer'>): EnrichmentObserver {
  return event => {
    switch (event.kind) {
      case 'dispatched': // Each ends, and is written then.
      case 'predicted':
        break
      case 'decided':
        book.offer({ tenant: event.tenant, session: event.session, ...decidedCall(event) })
        break
      case 'declined': {
        const { tenant, session, reasons } = event
        const facts = { enricher_declines: reasons.slice(0, MAX_DECLINES) }
        book.offer({ tenant, session, facts })
        break
      }
      case 'refused':
      case 'unchanged': {
        const { tenant, session, kind } = event
        const unsent = kind === 'refused' ? 'fail_fast' : kind
        book.offer({ tenant, session, facts: { enricher_unsent: unsent } })
        break
      }
      default: {
        const { call, facts, kind } = event
        const { call: offered, facts: fetched } = fetchedCall(event)
        book.offer({
          tenant: call.scope.tenant,
          session: facts.session,
          call: offered,
          facts: { ...fetched, enricher_fetch: kind },
        })
      }
    }
  }
}

type Offered = Required<Pick<ArrivedOffer, 'call' | 'facts'>>

/** What was fetched is the baseline. */
function decidedCall({ offer: { facts, isUsed }, isKept }: DecidedEvent): Offered {
  const { reason, landed } = facts
  return {
    call: callOf(facts),
    facts: {
      response_chars: landed?.bytes ?? 0,
      cited_in_next_n_turns: isUsed,
      ...(reason === undefined
        ? { enricher_prefetched: true, enricher_served: isUsed && isKept }
        : { enricher_decline_reason: reason }),
    },
  }
}

function fetchedCall({ facts, bytes, savedMs }: FetchEvent): Offered {
  return {
    call: callOf(facts),
    facts: {
      response_chars: bytes,
      enricher_saved_ms: Math.max(0, Math.round(savedMs)),
      ...(facts.landed === undefined ? {} : { enricher_predicted_cost_tokens: facts.predicted }),
    },
  }
}

function callOf({ server, tool, key, landed }: OfferedFacts): Offered['call'] {
  return { server, tool, key, tokens: landed?.tokens ?? 0 }
}
