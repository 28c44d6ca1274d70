import { createHmac } from 'node:crypto'
import { writeKey } from '../../core/pipeline/profile/key-path.ts'
import type { Conversation } from '../play/conversation.ts'
import type { Proposal } from '../rules/proposal.ts'
import { type Interval, intervalOfSum } from './bootstrap.ts'
import type { Cost } from './plays.ts'

/** What became of a proposal. */
export type Verdict = 'applies' | 'no effect' | 'loses' | 'shadowed' | 'prior' | 'too few'

/**
 * A proposal with its effect alone: billed tokens that it saves, by half; `null` if it was not
 * played, since it cannot be applied anyway.
 */
export interface Judged {
  readonly proposal: Proposal
  readonly chosen: number | null
  readonly unseen: number | null
  readonly verdict: Verdict
}

export interface Judgement {
  readonly conversations: { readonly chosen: number; readonly unseen: number }
  readonly judged: readonly Judged[]
  /** The effect of the winners together, on the unseen half; `null` if there is no winner. */
  readonly together: Together | null
}

/** What proposals together save of the bill. */
interface Together {
  readonly proposals: readonly Proposal[]
  readonly before: number
  readonly after: number
  readonly interval: Interval
  readonly isAccepted: boolean
}

export interface JudgeOptions {
  /** Keys the split. */
  readonly key: string | Uint8Array
  /** Whether a layer that a person wrote says something else of the proposal's key. */
  isShadowed(proposal: Proposal): boolean
  /** What a conversation is billed with proposals. */
  costOf(conversation: Conversation, proposals: readonly Proposal[]): Cost
}

/** A class may lose so much of its bill. */
const CLASS_LOSS = 0.01
/** Fewer conversations in a half are too few to judge by. */
const LEAST_CONVERSATIONS = 5
const SEED = 22

/**
 * The guard. Proposals that win on one half of the conversations are played together on the other.
 * They are accepted only if the 95 % interval of what they save there is above 0, and no class
 * loses more than 1 %. A proposal whose class loses is taken out once, and the rest is played
 * again.
 */
export function judge(
  conversations: readonly Conversation[],
  proposals: readonly Proposal[],
  { key, isShadowed, costOf }: JudgeOptions,
): Judgement {
  const { chosen, unseen } = splitByHash(conversations, key)
  const isJudgeable = Math.min(chosen.length, unseen.length) >= LEAST_CONVERSATIONS
  const gainsOf = (half: readonly Conversation[], of: readonly Proposal[]) =>
    half.map(each => costOf(each, []).total - costOf(each, of).total)
  const rows = proposals.map(proposal => {
    const early = isShadowed(proposal) ? 'shadowed' : earlyVerdict(proposal, isJudgeable)
    if (early !== null) return { proposal, early, chosen: null, unseen: null }
    const [ofChosen, ofUnseen] = [chosen, unseen].map(half => sumOf(gainsOf(half, [proposal])))
    return { proposal, early, chosen: ofChosen!, unseen: ofUnseen! }
  })
  const { kept, together } = playTogether(bestByKey(rows))
  const judged = rows.map(({ early, ...row }): Judged => {
    if (early !== null) return { ...row, verdict: early }
    // On the half that it is chosen by nothing speaks for it, or against it.
    if (row.chosen === 0) return { ...row, verdict: 'no effect' }
    if (!kept.includes(row.proposal)) return { ...row, verdict: 'loses' }
    if (together?.isAccepted) return { ...row, verdict: 'applies' }
    return { ...row, verdict: (together?.interval.high ?? 0) <= 0 ? 'loses' : 'no effect' }
  })
  return { conversations: { chosen: chosen.length, unseen: unseen.length }, judged, together }

  function playTogether(winners: readonly Proposal[]) {
    const kept = hasLosers(winners) ? winners.filter(each => !hasLosers([each])) : winners
    if (kept.length === 0) return { kept, together: null }
    const gains = gainsOf(unseen, kept)
    const before = sumOf(unseen.map(each => costOf(each, []).total))
    const interval = intervalOfSum(gains, SEED)
    const isAccepted = interval.low > 0 && (kept === winners || !hasLosers(kept))
    const after = before - sumOf(gains)
    return { kept, together: { proposals: kept, before, after, interval, isAccepted } }
  }

  /** Whether the bill of a class rises by more than it may lose. */
  function hasLosers(of: readonly Proposal[]): boolean {
    const before = sumsByClass(unseen.map(each => costOf(each, [])))
    const after = sumsByClass(unseen.map(each => costOf(each, of)))
    return [...after].some(([name, cost]) => cost > (1 + CLASS_LOSS) * (before.get(name) ?? 0))
  }
}

/**
 * Splits conversations by a keyed hash of their ids, so that a conversation is in the same half in
 * each analysis, and its author cannot choose the half.
 */
export function splitByHash(all: readonly Conversation[], key: string | Uint8Array) {
  const isChosen = ({ id }: Conversation) =>
    (createHmac('sha256', key).update(id).digest()[0]! & 1) === 0
  return { chosen: all.filter(isChosen), unseen: all.filter(each => !isChosen(each)) }
}

function earlyVerdict({ isPrior, isTooFew }: Proposal, isJudgeable: boolean): Verdict | null {
  if (isPrior === true) return 'prior'
  return isTooFew || !isJudgeable ? 'too few' : null
}

/** Those that win; of proposals for one key, the one that wins most. */
function bestByKey(rows: readonly Pick<Judged, 'proposal' | 'chosen'>[]): readonly Proposal[] {
  const best = new Map<string, { readonly proposal: Proposal; readonly gain: number }>()
  for (const { proposal, chosen: gain } of rows) {
    const key = writeKey(proposal.key)
    if (gain !== null && gain > (best.get(key)?.gain ?? 0)) best.set(key, { proposal, gain })
  }
  return [...best.values()].map(({ proposal }) => proposal)
}

function sumsByClass(costs: readonly Cost[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { byClass } of costs) {
    for (const [name, cost] of byClass) sums.set(name, (sums.get(name) ?? 0) + cost)
  }
  return sums
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
