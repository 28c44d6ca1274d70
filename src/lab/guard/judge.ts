import { writeKey } from '../../core/pipeline/profile/key-path.ts'
import type { Conversation } from '../play/conversation.ts'
import type { Proposal } from '../rules/proposal.ts'
import { type Interval, intervalOfSum } from './bootstrap.ts'
import { type Halves, splitByHash } from './halves.ts'
import type { Cost } from './outcome.ts'
import type { Trials } from './plays.ts'

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
  readonly conversations: Readonly<Record<keyof Halves<unknown>, number>>
  readonly judged: readonly Judged[]
  /** The effect of the winners together, on the unseen half; `null` if there is no winner. */
  readonly together: Together | null
}

/** What proposals together save of the bill. */
export interface Together {
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
  isShadowed?(proposal: Proposal): boolean
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
  trials: Trials,
  options: JudgeOptions,
): Judgement {
  const halves = splitByHash(conversations, options.key)
  const { chosen, unseen } = halves
  const isJudgeable = Math.min(chosen.length, unseen.length) >= LEAST_CONVERSATIONS
  const rows = proposals.map(proposal => {
    const early = earlyVerdict(proposal, options, isJudgeable)
    if (early !== null) return { proposal, early, chosen: null, unseen: null }
    const [ofChosen, ofUnseen] = [chosen, unseen].map(half => gainOf(trials, half, [proposal]))
    return { proposal, early, chosen: ofChosen!, unseen: ofUnseen! }
  })
  const winners = bestByKey(rows)
  const { kept, together } = playTogether(trials, unseen, winners)
  const judged = rows.map(({ early, ...row }): Judged => {
    const { proposal } = row
    if (early !== null) return { ...row, verdict: early }
    // On the half that it is chosen by nothing speaks for it, or against it.
    if (row.chosen === 0) return { ...row, verdict: 'no effect' }
    if (!kept.includes(proposal)) return { ...row, verdict: 'loses' }
    if (together?.isAccepted) return { ...row, verdict: 'applies' }
    return { ...row, verdict: (together?.interval.high ?? 0) <= 0 ? 'loses' : 'no effect' }
  })
  return {
    conversations: { chosen: chosen.length, unseen: unseen.length },
    judged,
    together,
  }
}

function earlyVerdict(
  proposal: Proposal,
  { isShadowed }: JudgeOptions,
  isJudgeable: boolean,
): Verdict | null {
  if (isShadowed?.(proposal) === true) return 'shadowed'
  if (proposal.isPrior === true) return 'prior'
  return proposal.isTooFew || !isJudgeable ? 'too few' : null
}

/** Those that win; of proposals for one key, the one that wins most. */
function bestByKey(
  rows: readonly { readonly proposal: Proposal; readonly chosen: number | null }[],
): readonly Proposal[] {
  const best = new Map<string, { readonly proposal: Proposal; readonly chosen: number }>()
  for (const { proposal, chosen } of rows) {
    if (chosen === null || chosen <= 0) continue
    const key = writeKey(proposal.key)
    if ((best.get(key)?.chosen ?? 0) < chosen) best.set(key, { proposal, chosen })
  }
  return [...best.values()].map(({ proposal }) => proposal)
}

function playTogether(
  trials: Trials,
  unseen: readonly Conversation[],
  winners: readonly Proposal[],
): { readonly kept: readonly Proposal[]; readonly together: Together | null } {
  if (winners.length === 0) return { kept: [], together: null }
  const losing = losingClasses(trials, unseen, winners)
  const kept =
    losing.length === 0
      ? winners
      : winners.filter(winner => losingClasses(trials, unseen, [winner]).length === 0)
  if (kept.length === 0) return { kept, together: null }
  const gains = unseen.map(each => trials.gain(each, kept))
  const before = unseen.reduce((sum, each) => sum + trials.base(each).total, 0)
  const interval = intervalOfSum(gains, SEED)
  const isHarmless = kept === winners || losingClasses(trials, unseen, kept).length === 0
  const gain = gains.reduce((sum, each) => sum + each, 0)
  const isAccepted = interval.low > 0 && isHarmless
  return { kept, together: { proposals: kept, before, after: before - gain, interval, isAccepted } }
}

function gainOf(
  trials: Trials,
  conversations: readonly Conversation[],
  proposals: readonly Proposal[],
): number {
  return conversations.reduce((sum, each) => sum + trials.gain(each, proposals), 0)
}

/** Classes whose bill rises by more than they may lose. */
function losingClasses(
  trials: Trials,
  conversations: readonly Conversation[],
  proposals: readonly Proposal[],
): readonly string[] {
  const before = sumsOf(conversations.map(each => trials.base(each)))
  const after = sumsOf(conversations.map(each => trials.cost(each, proposals)))
  return [...after].flatMap(([name, cost]) => {
    return cost > (1 + CLASS_LOSS) * (before.get(name) ?? 0) ? [name] : []
  })
}

function sumsOf(costs: readonly Cost[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { byClass } of costs) {
    for (const [name, cost] of byClass) sums.set(name, (sums.get(name) ?? 0) + cost)
  }
  return sums
}
