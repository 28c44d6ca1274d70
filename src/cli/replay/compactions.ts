import type { SessionEvent } from '../../core/verify/transcript.ts'
import type { Verifier } from '../../core/verify/verify-transcript.ts'
import type { Player } from './player.ts'
import type { RecordedResult } from './read-results.ts'

/**
 * Tells the player, the verifier and the transcript when a result comes from a context that was
 * compacted since.
 */
export function followCompactions(
  player: Player,
  verifier: Verifier,
  write: (entry: object) => number,
): (result: RecordedResult) => Promise<void> {
  const epochs = new Map<string, number>()
  return async ({ session, epoch }) => {
    if (session === undefined || epoch === undefined) return
    const before = epochs.get(session) ?? epoch
    epochs.set(session, epoch)
    for (let now = before; now < epoch; now++) {
      const entry: SessionEvent = { event: 'compaction', session: player.nameOf(session) }
      if (await player.compact(entry.session)) verifier.check({ line: write(entry), entry })
    }
  }
}
