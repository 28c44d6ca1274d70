import { type LayersPlace, readLayers } from '../../config/layers/read-layers.ts'
import { openTuned } from '../versions/tuned.ts'
import { TunedFault } from '../versions/tuned-file.ts'
import type { TunedVersion } from '../versions/version-record.ts'
import type { Proposals } from './proposals-file.ts'

/**
 * Writes what an analysis accepted. @returns the version; `null` if there is nothing to change
 * @throws TunedFault if the configuration was changed since, or the tuned file has a fault
 */
export function applyAccepted(
  place: LayersPlace,
  tenant: string,
  { generation: judged, inputs, onto, effect, changes }: Proposals,
): TunedVersion | null {
  const { generation } = readLayers(place, { tenant })
  if (generation !== judged) {
    throw new TunedFault('the configuration was changed since: run `haversack tune analyze` again')
  }
  const terms = { inputs, generation, onto, now: new Date(), ...(effect && { effect }) }
  return openTuned(place.data_dir, tenant).apply(changes, terms)
}
