import type { CallOption } from './call-options.ts'
import type { Choice } from './choose-calls.ts'
import type { ListedTool } from './eligibility.ts'
import type { ModelLayers, Models } from './models.ts'
import type { Offer, Probabilities } from './probability.ts'
import type { OfferedCall } from './projections.ts'
import type { FollowUp } from './value-model.ts'

/** Why a call is not made ahead. The last three are for what dispatches a plan. */
export type DeclineReason =
  | 'below_probability'
  | 'budget'
  | 'not_speculatable'
  | 'unsafe_argument'
  | 'no_projection'
  | 'in_context'
  | 'cached'
  | 'upstream_down'
  | 'tuned_off'
  | 'host_saturated'
  | 'parallel_limit'

/** A link of a recent call, and the calls that the call's result offers by it. Plain data. */
export interface Offering {
  /** The tool whose result it was, and its server. */
  readonly trigger: string
  readonly server: string
  readonly link: FollowUp
  /** From `projectCalls`; empty for a link that `requires` another call. */
  readonly calls: readonly OfferedCall[]
}

/** The part of the configuration that a plan of calls ahead depends on. */
export interface PlanningTerms {
  readonly layers: ModelLayers
  /** Tokens that the results of one plan may have, as predicted. */
  readonly budgetTokens: number
  /** Less probable calls are not planned. */
  readonly minProbability: number
  /** Whether slow and expensive calls count half. */
  readonly isCostAware: boolean
}

/** The terms of an empty configuration, without the models that come with the package. */
export const UNCONFIGURED_PLANNING: PlanningTerms = {
  layers: {},
  budgetTokens: 8_000,
  minProbability: 0.25,
  isCostAware: false,
}

/** What a plan is made with: what the planner is told, and what it asks. */
export interface PlanContext extends Omit<PlanningTerms, 'layers'> {
  readonly models: Models
  readonly probabilities: Pick<Probabilities, 'of'>
  /** Hosts that the model has called in this context: see `hostsOf`. */
  readonly knownHosts: ReadonlySet<string>
  readonly keywords: readonly string[]
  /** The tool that a link of the server's tool names; `undefined` if no server offers it. */
  findTool(name: string, server: string): ListedTool | undefined
  isUp(server: string): boolean
  /** Whether this very call (`callKey`) has been made in this context, and its result is there. */
  isInContext(key: string): boolean
  /** Whether its result is kept, or on its way. */
  isCached(key: string, call: { readonly tool: ListedTool; readonly args: string }): boolean
  /**
   * Tokens that most results of such calls stay within, if enough came: see `ObservedCosts`.
   * @param names `argumentNames`
   */
  observedTokens(tool: ListedTool, names: string | undefined): number | undefined
}

/** A call that may be made ahead. */
export interface PossibleCall {
  readonly tool: ListedTool
  /** JSON; `null` if the arguments come from the result of a call that it requires. */
  readonly args: string | null
  /** `callKey`; `null` as `args` is. */
  readonly key: string | null
  readonly link: FollowUp
  readonly offer: Offer
  readonly probability: number
}

export interface PlannedCall extends PossibleCall, CallOption {
  /** Index in `calls` of the call that must be made first. */
  readonly requires: number | null
}

export interface DeclinedCall {
  readonly tool: string
  readonly server: string
  readonly args: string | null
  readonly reason: DeclineReason
  /** Absent if no call was offered. */
  readonly offer?: Offer
}

export interface Plan extends Omit<Choice, 'picks'> {
  /** By falling value for a token; a call comes after the one that it requires. */
  readonly calls: readonly PlannedCall[]
  readonly declined: readonly DeclinedCall[]
}
