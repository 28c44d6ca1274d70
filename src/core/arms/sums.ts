/** What a call may be to an earlier result that it comes back to. */
export const FOLLOW_UPS = ['retrieval', 'same_call', 'same_file', 'failed_edit'] as const
export type FollowUpKind = (typeof FOLLOW_UPS)[number]

/** Left out with a marker, or whole although it would have been left out. */
export const RESULT_ARMS = ['elided', 'whole'] as const
export type ResultArmName = (typeof RESULT_ARMS)[number]

/** The arm of a result that is, or would have been, elided. */
export interface ResultArm {
  /** Its endpoint class. */
  readonly class: string
  readonly isWhole: boolean
  /** Tokens that are, or would have been, left out. */
  readonly direct: number
  /** The share of results that stay whole, when it was drawn. */
  readonly share: number
}

/**
 * Sums over the results of one class and arm. All of them can be added, in any order. A result
 * weighs one over the probability of its arm, so that the two arms stay comparable if the share
 * changes.
 */
export interface ArmSums {
  readonly results: number
  /** Tokens that are, or would have been, left out; not weighted. */
  readonly direct: number
  /** Sums of weights, of weighted direct tokens, and of weighted costs of follow-ups. */
  readonly w: number
  readonly wd: number
  readonly wc: number
  /** The part of the costs that is retrievals. */
  readonly wr: number
  /** Results that had a follow-up, weighted. */
  readonly wy: number
  /** The same with squared weights, also of products of direct tokens and costs. */
  readonly q: number
  readonly qd: number
  readonly qc: number
  readonly qdd: number
  readonly qdc: number
  readonly qcc: number
  readonly qy: number
  /** Follow-ups by their kinds, and those that took a turn of their own; not weighted. */
  readonly retrieval: number
  readonly same_call: number
  readonly same_file: number
  readonly failed_edit: number
  readonly turns: number
}

export const NO_SUMS: ArmSums = {
  results: 0,
  direct: 0,
  w: 0,
  wd: 0,
  wc: 0,
  wr: 0,
  wy: 0,
  q: 0,
  qd: 0,
  qc: 0,
  qdd: 0,
  qdc: 0,
  qcc: 0,
  qy: 0,
  retrieval: 0,
  same_call: 0,
  same_file: 0,
  failed_edit: 0,
  turns: 0,
}

export const SUM_NAMES = Object.keys(NO_SUMS) as readonly (keyof ArmSums)[]

export function addSums(a: ArmSums, b: ArmSums): ArmSums {
  const sums: Record<keyof ArmSums, number> = { ...a }
  for (const name of SUM_NAMES) sums[name] += b[name]
  return sums
}

/** What a request adds to the sums of a class and arm. */
export interface ArmDelta {
  readonly class: string
  readonly arm: ResultArmName
  readonly sums: ArmSums
}

/** What a request adds to its unit: results that came for the first time. */
export interface UnitDelta {
  /** 16 hex digits, which only its tenant's secret can make. */
  readonly unit: string
  readonly isHeldOut: boolean
  readonly results: number
  /** As the client sent them, and those of them that are, or would have been, saved. */
  readonly tokens: number
  readonly saved: number
  /** Those that an earlier call within the window had asked for already. */
  readonly again: number
  readonly failedEdits: number
}

/** Whether there is anything in both arms. */
export function comparesArms(share: number): boolean {
  return share > 0 && share < 1
}

/** The part of a result's weight that its arm decides; `null` if the share compares nothing. */
function weightOf({ isWhole, share }: Pick<ResultArm, 'isWhole' | 'share'>): number | null {
  if (!comparesArms(share)) return null
  return 1 / (isWhole ? share : 1 - share)
}

/** A result that is counted for the first time. */
export function arrival(arm: ResultArm): ArmDelta | null {
  const w = weightOf(arm)
  if (w === null) return null
  const { class: name, isWhole, direct } = arm
  const q = w * w
  const sums = {
    ...NO_SUMS,
    results: 1,
    direct,
    w,
    wd: w * direct,
    q,
    qd: q * direct,
    qdd: q * direct * direct,
  }
  return { class: name, arm: isWhole ? 'whole' : 'elided', sums }
}

/** A follow-up of a result that is counted already. */
export interface FollowUp {
  readonly kind: FollowUpKind
  /** Tokens that it costs, and those that earlier follow-ups of the same result did. */
  readonly cost: number
  readonly before: number
  readonly isFirst: boolean
  readonly takesTurn: boolean
}

/**
 * What a follow-up adds. Squares are of all that a result has cost, so the new square takes the
 * place of the old one.
 */
export function followUp(
  arm: ResultArm,
  { kind, cost, before, isFirst, takesTurn }: FollowUp,
): ArmDelta | null {
  const w = weightOf(arm)
  if (w === null) return null
  const { class: name, isWhole, direct } = arm
  const q = w * w
  const sums = {
    ...NO_SUMS,
    wc: w * cost,
    wr: kind === 'retrieval' ? w * cost : 0,
    wy: isFirst ? w : 0,
    qc: q * cost,
    qdc: q * direct * cost,
    qcc: q * ((before + cost) ** 2 - before ** 2),
    qy: isFirst ? q : 0,
    [kind]: 1,
    turns: takesTurn ? 1 : 0,
  }
  return { class: name, arm: isWhole ? 'whole' : 'elided', sums }
}
