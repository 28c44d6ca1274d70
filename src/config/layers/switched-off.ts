import { FORMAT_IDS } from '../../core/pipeline/profile/format-ids.ts'
import type { LayerSettings } from '../../core/pipeline/profile/pipeline-config.ts'

/** The list that switches off each format that it does not name. */
export const LISTED_FORMATS = ['mckp', 'formats_enabled'] as const

/** What a file's list of formats switches off; `null` if it is nothing. */
export function switchedOff({ mckp }: LayerSettings): string | null {
  const listed = mckp?.formats_enabled
  const off = listed === undefined ? [] : FORMAT_IDS.filter(id => !listed.includes(id))
  if (off.length === 0) return null
  return `switches off ${off.join(', ')}: results that are shortest in them get longer`
}
