import { staysWhole } from '../../arms/assign.ts'
import { comparesArms, type UnitDelta } from '../../arms/sums.ts'
import type { EncodeAnswer } from '../../contract/encode.ts'
import type { RequestTerms } from '../../contract/request-terms.ts'
import type { ResultRow } from '../../contract/result-row.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import { FollowUps, type SentArm } from './follow-ups.ts'
import type { ConversationContext } from './rewrite-context.ts'
import type { DrawResult } from './rewrite-result.ts'
import type { Counting } from './rewrite-text.ts'
import type { RequestArm } from './unit-arm.ts'

/** Draws the arms of results; `undefined` if none stays whole, or the request is in no arm. */
export function drawOf(
  arm: RequestArm | null,
  terms: RequestTerms | undefined,
): DrawResult | undefined {
  const arms = terms?.arms
  if (arm === null || arms === undefined || arms.explore === 0) return undefined
  const { quarter } = arm.unit
  return { share: arms.explore, isWhole: key => staysWhole(arms, quarter, key) }
}

/** What the results of a request add to arms. */
export interface ArmCounts {
  /**
   * Goes on to the next result.
   * @param sent `null`: it is left alone
   * @param isKnown whether an earlier request had it
   */
  pass(result: ToolResultText, sent: SentArm | null, isKnown: boolean): void
  /**
   * What the result that was passed last adds, with those left alone before it.
   * @param tokens of it, as the client sent it and as it is written
   */
  last(tokens: Pick<EncodeAnswer['tokens'], 'baseline' | 'final'>): Pick<ResultRow, 'arms' | 'unit'>
}

/** @param start byte of the body at which the messages begin */
export function armCounts(
  start: number,
  arm: RequestArm | null,
  counting: Counting,
  { counters, terms, pipeline = DEFAULT_PIPELINE }: ConversationContext,
): ArmCounts | null {
  const unit = unitOf(arm, terms)
  if (arm === null && unit === null) return null
  const counter = counters.get(resolveTokenizer(counting))
  const { dedup, elision } = pipeline
  const followUps = new FollowUps({
    mutating: dedup.mutating_tools,
    retrieving: elision.redeem_tools,
    start,
    count: text => counter.count(text),
  })
  return {
    pass: (result, sent, isKnown) => followUps.pass(result, sent, isKnown),
    last({ baseline, final }) {
      const { arms, again, failedEdits, results } = followUps.uncounted()
      const saved = Math.max(0, baseline - final)
      const counted = { results, tokens: baseline, saved, again, failedEdits }
      return {
        ...(arms.length === 0 ? {} : { arms }),
        ...(unit === null ? {} : { unit: { ...unit, ...counted } }),
      }
    },
  }
}

const UNIT_DIGITS = 16

/** The unit that results count for; `null` if its share compares nothing. */
function unitOf(
  arm: RequestArm | null,
  terms: RequestTerms | undefined,
): Pick<UnitDelta, 'unit' | 'isHeldOut'> | null {
  const beside = terms?.beside
  const key = beside?.key ?? arm?.key
  const share = beside?.share ?? arm?.unit.share ?? 0
  if (key === undefined || !comparesArms(share)) return null
  return { unit: key.slice(0, UNIT_DIGITS), isHeldOut: beside !== undefined }
}
