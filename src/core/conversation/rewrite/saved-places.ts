import type { SavedPlace } from '../../contract/report.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { type SavedTokens, totalOf } from './stored-rewrite.ts'

/** What one result was spared. */
export interface Saving {
  /** Byte of the client's body at which the result ends. */
  readonly end: number
  /** Bytes fewer than in the client's body; may be negative although tokens are saved. */
  readonly shorter: number
  readonly saved: SavedTokens
}

/** More places than a share of cached tokens can distinguish. */
const MAX_PLACES = 64

/**
 * The places in the prompt at which tokens were saved. Providers read tools and instructions first,
 * wherever a body has them, so what is outside the conversation counts as before it.
 * @param savings in the order of the body
 * @returns in the order of the prompt, at most 64: neighbours are joined at the place of the last
 */
export function savedPlaces(
  { body, messages }: Pick<ScannedRequest, 'body' | 'messages'>,
  savings: readonly Saving[],
): readonly SavedPlace[] {
  const first = messages[0]?.start ?? 0
  const last = messages.at(-1)?.end ?? 0
  const outside = body.length - (last - first)
  const total = body.length - savings.reduce((sum, { shorter }) => sum + shorter, 0)
  const each = Math.ceil(savings.length / MAX_PLACES)
  const places: SavedPlace[] = []
  let shorter = 0
  let tokens = 0
  for (const [index, saving] of savings.entries()) {
    shorter += saving.shorter
    tokens += totalOf(saving.saved)
    if ((index + 1) % each !== 0 && index + 1 < savings.length) continue
    places.push({ at: Math.min(1, (outside + saving.end - first - shorter) / total), tokens })
    tokens = 0
  }
  return places
}
