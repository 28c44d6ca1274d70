import { costOfFormats } from '../../core/pipeline/cost-of-formats.ts'
import type { LayerSettings } from '../../core/pipeline/profile/pipeline-config.ts'
import { FORMAT_IDS } from '../../core/pipeline/profile/profile-axes.ts'

/** The list that switches off each format that it does not name. */
export const LISTED_FORMATS = ['mckp', 'formats_enabled'] as const

/** What a file's list of formats switches off, and what that costs; `null` if it is nothing. */
export function switchedOff({ mckp }: LayerSettings): string | null {
  const listed = mckp?.formats_enabled
  const off = listed === undefined ? [] : FORMAT_IDS.filter(id => !listed.includes(id))
  if (listed === undefined || off.length === 0) return null
  const cost = (100 * costOfFormats(listed)).toFixed(1)
  return `switches off ${off.join(', ')}: results of a built-in sample are ${cost} % longer`
}
