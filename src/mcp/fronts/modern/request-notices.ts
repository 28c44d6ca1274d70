import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { member, shortValue, withMember } from '../../members.ts'
import type { Envelope } from './request-rules.ts'

/**
 * What a request lets pass of its notifications: progress and logs, if it asked for them.
 * @returns the parameters to send; `null` if the notification is not wanted
 */
export function wantedNotice(
  method: string,
  params: JsonBytes | null,
  { progressToken, logLevel }: Envelope,
): JsonBytes | null {
  if (params === null) return null
  if (method === 'notifications/progress') {
    // A later round of a call may have another token than the first one.
    return progressToken === null ? null : withMember(params, 'progressToken', progressToken)
  }
  if (method !== 'notifications/message') return null
  const least = seriousness(logLevel)
  const level = member(params, 'level')
  const given = level == null ? null : seriousness(shortValue(level))
  return least !== null && given !== null && given >= least ? params : null
}

/** From the least to the most serious. */
const LEVELS: readonly unknown[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** How serious a level is; `null` for a word that is none. */
export function seriousness(level: unknown): number | null {
  const at = LEVELS.indexOf(level)
  return at === -1 ? null : at
}
