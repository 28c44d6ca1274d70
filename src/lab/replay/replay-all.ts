import { createProgress } from '../../console/progress.ts'
import { ServiceProblem } from '../../console/service-client.ts'
import { AppError } from '../../core/base/errors.ts'
import type { TokenCounter } from '../../core/tokens/counter.ts'
import type { TokenCounters } from '../../core/tokens/counters.ts'
import type { SessionEvent } from '../../core/verify/transcript.ts'
import { createVerifier, type Verifier } from '../../core/verify/verify-transcript.ts'
import { type CommonFields, play, requestAt } from './play.ts'
import type { Player } from './player.ts'
import type { RecordedResult } from './read-results.ts'
import { addRetrieval } from './retrieval.ts'
import { createTally, type Tally } from './tally.ts'
import type { TranscriptFile } from './transcript-file.ts'

interface ReplayOptions {
  readonly player: Player
  /** The fields of every request beside its result. */
  readonly common: CommonFields
  readonly counters: TokenCounters
  readonly transcript: TranscriptFile
  /** The share of the markers that count as fetched, and the counter for the fetched tokens. */
  readonly retrieved: { readonly share: number; readonly counter: TokenCounter }
  /** Tokens of a result as the baseline writes it; `null`: those of the input. */
  readonly baselineTokens: ((text: string) => number) | null
}

/** Plays results in their order and sums up; reports failures and findings on stderr. */
export async function replayAll(
  results: readonly RecordedResult[],
  { player, common, counters, transcript, retrieved, baselineTokens }: ReplayOptions,
): Promise<Tally> {
  const { write } = transcript
  const tally = createTally()
  const verifier = createVerifier(counters)
  const follow = followCompactions(player, verifier, write)
  const progress = createProgress('replay', results.length)
  for (const [index, result] of results.entries()) {
    const tell = (what: string, reason: string) => {
      process.stderr.write(`${what}: result ${index + 1} (${result.tool}): ${reason}\n`)
    }
    try {
      await follow(result)
      const played = await play(result, common, { player, verifier, write })
      const { tokens } = played.answer
      const before = baselineTokens?.(result.text) ?? tokens.baseline
      tally.add(played, before)
      const fetched = addRetrieval(tally.retrieval, played.answer, result.text, retrieved)
      const { session, epoch } = result
      tally.billed.push({ session, epoch, before, after: tokens.final, fetched })
      for (const { family, reason } of played.findings) tell('not true', `${family}: ${reason}`)
    } catch (error) {
      // The refusal of one result does not end the replay.
      if (isTooSmall(error)) {
        tally.too_small++
        const entry = { request: requestAt(player, result, common), answer: null }
        verifier.check({ line: write(entry), entry })
      } else {
        tally.failed++
        tell('failed', error instanceof Error ? error.message : String(error))
      }
    }
    progress.advance()
  }
  progress.done()
  return tally
}

/**
 * Whether nothing that may be sent of a result fits the budget: a result of the replay, not a
 * failure.
 */
function isTooSmall(error: unknown): boolean {
  const isProblem = error instanceof AppError || error instanceof ServiceProblem
  return isProblem && error.code === 'budget_too_small'
}

/**
 * Tells the player, the verifier and the transcript when a result comes from a context that was
 * compacted since.
 */
function followCompactions(
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
