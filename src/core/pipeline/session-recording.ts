import type { KeepItem } from '../contract/operation-result.ts'
import type { Counters } from '../sessions/index/session-index.ts'
import type { Shown } from '../sessions/turn/earlier-results.ts'
import type { openTurn } from '../sessions/turn/open-turn.ts'
import type { Referral } from '../sessions/turn/referral.ts'
import {
  keepOn,
  remember,
  rememberArguments,
  rememberBlocks,
  rememberStrings,
} from '../sessions/turn/remember.ts'
import type { SessionContext } from '../sessions/turn/shared-sessions.ts'
import type { LayerInput } from './layer.ts'
import type { Profile } from './profile/resolve.ts'
import { type Sent, shownOf } from './shown-of.ts'

/** How a content reaches the agent. */
export interface Delivery extends Sent {
  /** Given back to a retry. */
  readonly answer: object
  readonly families: readonly string[]
  /** For the session's summary. */
  readonly counters: Partial<Counters>
}

/** A result as its session is to remember it. */
interface Recorded {
  readonly request: LayerInput['request'] & { readonly session: string }
  readonly sessions: SessionContext
  readonly here: ReturnType<typeof openTurn>
  /** Whether it is kept as an earlier result. */
  readonly isKept: boolean
  readonly isNew: boolean
  readonly isOld: boolean
}

/** Records what an agent was sent, so that later results can refer to it. */
export function recordingOf(
  content: string,
  dedup: Profile['dedup'],
  { request, sessions, here, isKept, isNew, isOld }: Recorded,
) {
  const { bodies, nowMs } = sessions
  /** Texts in the call's arguments. */
  const given: readonly KeepItem[] =
    dedup.lines && content.isWellFormed() ? rememberArguments({ bodies }, here, request) : []

  function record(answer: 'full' | 'near' | 'lines', of: number, shown: Shown) {
    if (!isKept) return given
    if (isOld && here.turn.answered?.entry.durable !== false)
      return [...given, keepOn(sessions, here, content)]
    const { lruSize, mutating } = dedup
    const options = { delivered: { answer, of }, shown, lruSize, nowMs, mutating }
    return [...given, remember(sessions, here, { ...request, content }, options)]
  }

  function recordAs(delivery: Delivery, referral: Referral | null) {
    const shown = shownOf(delivery, content, referral, here)
    // The agent has only parts of it.
    if (!delivery.lossless) return shown.found ? [...given, ...record('lines', 0, shown)] : given
    return [...strings(shown), ...recordWhole(shown, referral)]
  }

  /** Texts in strings of a result that the agent has now. */
  function strings(shown: Shown): readonly KeepItem[] {
    if (!isNew || !dedup.lines) return []
    return rememberStrings({ bodies }, here, { ...request, content }, shown)
  }

  function recordWhole(shown: Shown, referral: Referral | null) {
    if (referral === null) {
      const isShown = shown.found === 'lines' && isKept
      const blocks = isShown
        ? rememberBlocks({ bodies }, here, { ...request, content }, dedup.hostBlocks)
        : []
      return [...blocks, ...record('full', 0, shown)]
    }
    const { kind, entry } = referral
    if (kind === 'exact') return given
    return kind === 'near' ? record('near', entry!.sequence, shown) : record('lines', 0, shown)
  }

  return { record, recordAs }
}
