import type { EnrichmentObserver } from '../ahead/enrichment.ts'
import type { Register } from './register.ts'

const SAVED = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What calls ahead of the model bring, and cost. No label comes from clients or servers. */
export function createEnrichmentMetrics({ counter, histogram }: Register): EnrichmentObserver {
  const fetches = counter(
    'haversack_prefetches_total',
    'Calls made ahead of the model: dispatched, and each of these served, joined or wasted',
    ['fate'],
  )
  const wastedBytes = counter(
    'haversack_prefetch_wasted_bytes_total',
    'Bytes of results that were fetched ahead and not used',
    [],
  )
  const saved = histogram(
    'haversack_prefetch_saved_seconds',
    'Time that calls did not have to wait for their server',
    SAVED,
  )
  const declines = counter(
    'haversack_prefetch_declines_total',
    'Offered calls that were not made ahead, by reason',
    ['reason'],
  )
  const offers = counter(
    'haversack_offers_total',
    'Offered calls, by what was done, and whether the model made them within three calls',
    ['fate', 'used'],
  )
  const sizes = counter(
    'haversack_prefetch_predictions_total',
    'Results fetched ahead, by whether they had 1.3 times the predicted tokens or more',
    ['size'],
  )
  const answers = counter(
    'haversack_unsent_calls_total',
    'Calls of the model that found nothing before and were refused, or had the same result again',
    ['why'],
  )
  return event => {
    switch (event.kind) {
      case 'declined':
        for (const reason of event.reasons) declines.inc({ reason })
        break
      case 'decided': {
        const { facts, isUsed } = event.offer
        const fate = facts.reason === undefined ? 'prefetched' : 'declined'
        offers.inc({ fate, used: isUsed ? 'yes' : 'no' })
        break
      }
      case 'predicted':
        // 1.3 times (SOURCES.md#planner), in whole numbers as telemetry's sums have it.
        sizes.inc({ size: 10 * event.actual >= 13 * event.predicted ? 'overrun' : 'within' })
        break
      case 'refused':
        answers.inc({ why: 'fail_fast' })
        break
      case 'unchanged':
        answers.inc({ why: 'unchanged' })
        break
      default:
        fetches.inc({ fate: event.kind })
        if (event.kind === 'wasted') wastedBytes.inc(event.bytes)
        else if (event.kind !== 'dispatched') saved(event.savedMs / 1_000)
    }
  }
}
