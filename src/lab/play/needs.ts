import { findNeeds, type Need } from '../../core/conversation/needs/find-needs.ts'
import type { RecordedResult } from './conversation.ts'
import type { PlayedResult } from './play.ts'

/** What would have been needed of recorded results. @param played the same, with parts left out */
export function needsOfPlayed(
  results: readonly RecordedResult[],
  played: readonly PlayedResult[],
): readonly Need[] {
  return findNeeds(
    results.map(({ agent, epoch, is_error: isError, args, text }, at) => ({
      context: JSON.stringify([agent, epoch]),
      isError,
      args: () => args,
      text: () => text,
      shown: () => played[at]?.shown,
    })),
  )
}
