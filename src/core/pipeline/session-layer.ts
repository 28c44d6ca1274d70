import type { Counters } from '../dedup/index/session-index.ts'
import { hopsTo, refOf } from '../dedup/session/earlier-results.ts'
import { openTurn, type SessionTurn } from '../dedup/session/open-turn.ts'
import {
  type ReferOptions,
  type Referral,
  type Reliance,
  referAgain,
  referToLines,
  referToResult,
} from '../dedup/session/refer-to-earlier.ts'
import {
  answerBefore,
  remember,
  rememberAnswer,
  rememberArguments,
} from '../dedup/session/remember.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import type { HintFamily } from '../hints/hint.ts'
import type { HintGate } from '../hints/policy.ts'
import type { KeepItem, SessionContext } from '../operations/operation.ts'
import { takesPart } from '../profile/dedup-profile.ts'
import { HINT_FAMILIES } from '../profile/hint-policy.ts'
import type { Profile } from '../profile/resolve.ts'
import type { EncodeAnswer } from '../requests/encode.ts'
import type { LayerInput } from './layer.ts'
import { notationOf } from './wrapped-format.ts'

/** L0: a result's place in its session, from its arrival to its answer. */
export interface SessionLayer {
  /** Compactions so far. */
  readonly partition: number
  /** The answer that a retry had the first time, where only that time could give it. */
  past(): { readonly answer: EncodeAnswer; readonly rely: readonly Reliance[] } | null
  /** The content as a reference to one earlier result. */
  toResult(gate: HintGate): Referral | null
  /** The content with lines said by reference. */
  toLines(gate: HintGate): Referral | null
  /** Hints of a family that the session was sent so far. */
  sentInSession(family: HintFamily): number
  /**
   * Records the result as it is delivered.
   * @returns what must be kept before the answer leaves; `null` where what it refers to is gone meanwhile: then it must
   * not be sent
   */
  record(delivered: Delivered, referral: Referral | null): readonly KeepItem[] | null
  /** The same for an encoded answer, which is counted, and kept for a retry where it needs to be. */
  close(answer: EncodeAnswer, referral: Referral | null): readonly KeepItem[] | null
  /** The id by which later answers name this result, where it was recorded. */
  readonly ref: string | undefined
}

/** How a content reaches the agent. */
export type Delivered = Pick<EncodeAnswer, 'lossless' | 'format'>

/** Notations in which a reader finds a result's lines by their numbers. */
const LINEWISE: ReadonlySet<string> = new Set([PASSTHROUGH, 'numbered@1'])
/** More than a session is ever sent. */
const NO_LIMIT = 0xffff

/** `null` without a session, and for results that take no part in one: see `openTurn`. */
export function openSessionLayer(
  input: LayerInput,
  { dedup }: Profile,
  sessions: SessionContext | undefined,
): SessionLayer | null {
  const { request, content, prices } = input
  const { session } = request
  if (sessions === undefined || session === undefined) return null
  const { tenant, nowMs, index, bodies } = sessions
  const here = openTurn(
    index,
    tenant,
    { ...request, session, content },
    { nowMs, invalidation: dedup },
  )
  if (here === null) return null
  const { answered } = here.turn
  /** Texts in the call's arguments, to be kept with its answer. */
  const given: readonly KeepItem[] =
    dedup.lines && answered === null ? rememberArguments({ bodies }, here, request) : []
  const isKept =
    takesPart(dedup) && request.is_error !== true && content.length >= dedup.minBodyChars
  const options = (gate: HintGate): ReferOptions => {
    return { sessions, dedup, gate, counter: prices.counter, baseline: prices.baseline }
  }

  return {
    partition: here.turn.partition,
    ref: isKept ? refOf(here.identity) : undefined,
    past() {
      if (answered?.as !== 'body' || answered.entry.answer === 'full') return null
      const past = answerBefore({ index, bodies }, here)
      return past === null ? null : { answer: past.answer, rely: past.relies }
    },
    toResult(gate) {
      if (!isKept || answered?.as === 'body') return null
      if (answered?.as === 'reference') return referAgain(answered.entry, here, options(gate))
      return referToResult(content, here, options(gate))
    },
    toLines: gate =>
      isKept && answered === null ? referToLines(content, here, options(gate)) : null,
    sentInSession: family => index.summary(here.key)?.hints[HINT_FAMILIES.indexOf(family)] ?? 0,
    record,
    close(answer, referral) {
      const keep = record(answer, referral)
      if (keep === null) return null
      if (answered === null) count(here, answer, referral)
      // Only this moment could give it; and only a call has a retry.
      if (
        answered === null &&
        referral !== null &&
        referral.kind !== 'exact' &&
        here.callHash !== 0
      ) {
        rememberAnswer({ index, bodies }, here, { answer, relies: referral.relies })
      }
      return keep
    },
  }

  function record({ lossless, format }: Delivered, referral: Referral | null) {
    const entry = referral?.entry
    if (referral?.kind === 'exact' && entry !== undefined) {
      return index.refer(here!.turn, entry, here!.callHash) ? given : null
    }
    // Of what was trimmed the agent has only parts.
    if (!isKept || !lossless || answered?.entry.durable === true) return given
    const kept = remember(
      { index, bodies },
      here!,
      { ...request, content },
      {
        delivered: {
          answer: referral?.kind === 'near' ? 'near' : referral === null ? 'full' : 'lines',
          of: entry?.sequence ?? 0,
        },
        hops: hopsOf(format, referral),
        lruSize: dedup.lruSize,
        nowMs,
        mutating: dedup.mutating,
      },
    )
    return [...given, kept]
  }

  /** References between the answer and the content's lines. */
  function hopsOf(format: string, referral: Referral | null): number | undefined {
    if (referral === null) return LINEWISE.has(notationOf(format)) ? 0 : undefined
    if (referral.kind !== 'lines') return undefined
    const hops = referral.relies.map(({ identity }) => hopsTo(bodies, here!, identity) ?? 0)
    return 1 + Math.max(...hops)
  }

  function count({ key }: SessionTurn, answer: EncodeAnswer, referral: Referral | null): void {
    const { dedup_tokens, encoder_tokens, elided_tokens } = answer.savings
    const counters: Partial<Counters> = {
      baseline_tokens: answer.tokens.baseline,
      final_tokens: answer.tokens.final,
      encoder_tokens_saved: encoder_tokens,
      elided_tokens,
      ...(referral === null
        ? {}
        : { [referral.kind]: 1, [`${referral.kind}_tokens_saved`]: dedup_tokens }),
    }
    index.count(key, counters)
    for (const family of new Set(answer.hints.map(hint => hint.family))) {
      const number = HINT_FAMILIES.indexOf(family as HintFamily)
      if (number >= 0) index.takeHint(key, number, NO_LIMIT)
    }
  }
}
