import { parseJson } from '../json/parse-json.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import { callKey } from './call-key.ts'
import { type CallOption, callOptions } from './call-options.ts'
import { type ChoiceItem, chooseCalls, NONE } from './choose-calls.ts'
import { type Eligibility, eligibilityOf, type ListedTool } from './eligibility.ts'
import type { Models } from './models.ts'
import type { Offer, Probabilities } from './probability.ts'
import type { OfferedCall } from './projections.ts'
import { areHostsKnown } from './url-arguments.ts'
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

/** A tool that may be called ahead, as the catalogue has it. */
export interface CatalogueTool extends ListedTool {
  readonly inputSchema?: Value | undefined
}

/** What a plan is made with: what the planner is told, and what it asks. */
export interface PlanContext {
  readonly models: Models
  readonly probabilities: Pick<Probabilities, 'of'>
  /** Hosts that the model has called in this context: see `areHostsKnown`. */
  readonly knownHosts: ReadonlySet<string>
  readonly keywords: readonly string[]
  readonly budgetTokens: number
  readonly minProbability: number
  readonly isCostAware?: boolean
  /** The tool that a link of the server's tool names; `undefined` if nobody offers it. */
  findTool(name: string, server: string): CatalogueTool | undefined
  isUp(server: string): boolean
  /** Whether this very call (`callKey`) has been made in this context, and its result is there. */
  isInContext(key: string): boolean
  /** Whether its result is kept, or on its way. */
  isCached(key: string): boolean
  /** Median tokens of the tool's results, if enough came. */
  observedTokens(tool: CatalogueTool): number | undefined
}

export interface PlannedCall {
  readonly tool: CatalogueTool
  /** JSON; `null` if the arguments come from the result of `requires`. */
  readonly args: string | null
  /** `callKey`; `null` as `args` is. */
  readonly key: string | null
  /** Index in `calls` of the call that must be made first. */
  readonly requires: number | null
  readonly link: FollowUp
  readonly offer: Offer
  readonly probability: number
  /** Groups of fields that are worth their tokens; `null` for all. */
  readonly include: readonly string[] | null
  readonly cost_tokens: number
  readonly value: number
}

export interface DeclinedCall {
  readonly tool: string
  readonly server: string
  readonly args: string | null
  readonly reason: DeclineReason
  /** Absent if no call was offered. */
  readonly offer?: Offer
}

export interface Plan {
  /** By falling value for a token; a call comes after the one that it requires. */
  readonly calls: readonly PlannedCall[]
  readonly declined: readonly DeclinedCall[]
  readonly value: number
  readonly cost_tokens: number
  /** No plan within the budget has a higher value. */
  readonly bound: number
}

/** A call that may be made ahead, before the budget is known to have room. */
interface Candidate {
  readonly tool: CatalogueTool
  readonly args: string | null
  readonly key: string | null
  readonly link: FollowUp
  readonly offer: Offer
  readonly probability: number
  readonly options: readonly CallOption[]
  readonly dependents: Candidate[]
}

/** Calls that wait for one result; more are declined. */
const MAX_DEPENDENTS = 3

/**
 * Chooses which follow-up calls to make ahead (seed 001, "Knapsack algorithm"). Makes nothing
 * itself. Only calls that are eligible, safe, new and probable enough are candidates; which of them
 * are worth their tokens is a knapsack (`chooseCalls`). Every call that was offered is either
 * planned or declined with a reason, except for the same call from another link.
 */
export function planCalls(offerings: readonly Offering[], context: PlanContext): Plan {
  const declined: DeclinedCall[] = []
  const candidates = new Map<string, Candidate>()
  const dependent: { readonly offering: Offering; readonly tool: CatalogueTool }[] = []
  for (const offering of offerings) {
    const { link, server, trigger } = offering
    // Calling the same tool again is what deduplication is for (seed 001).
    if (link.tool === trigger) continue
    const tool = context.findTool(link.tool, server)
    const verdict = screenTool(tool, context)
    if (tool === undefined || typeof verdict === 'string') {
      declined.push(declineLink(offering, verdict as DeclineReason))
      continue
    }
    if (link.requires !== undefined) {
      dependent.push({ offering, tool })
      continue
    }
    if (offering.calls.length === 0) declined.push(declineLink(offering, 'no_projection'))
    for (const call of offering.calls) {
      addCandidate(candidates, declined, offering, tool, call, context)
    }
  }
  for (const { offering, tool } of dependent) {
    addDependents(candidates, declined, offering, tool, context)
  }
  return solve([...candidates.values()], declined, context)
}

/**
 * Why a tool is not called ahead, whatever its arguments; else under which condition it is.
 * For a call whose arguments became known after the plan, together with `screenArguments`.
 */
export function screenTool(
  tool: CatalogueTool | undefined,
  { models, isUp }: Pick<PlanContext, 'models' | 'isUp'>,
): DeclineReason | Extract<Eligibility, { isEligible: true }> {
  if (tool === undefined) return 'not_speculatable'
  const eligibility = eligibilityOf(tool, models.find(tool.name, tool.server))
  if (!eligibility.isEligible) return eligibility.reason
  return isUp(tool.server) ? eligibility : 'upstream_down'
}

/** The key of a call that may be made ahead, or why it is not. */
export function screenArguments(
  tool: CatalogueTool,
  args: string,
  context: Pick<PlanContext, 'models' | 'isUp' | 'knownHosts' | 'isInContext' | 'isCached'>,
): { readonly key: string } | DeclineReason {
  const verdict = screenTool(tool, context)
  if (typeof verdict === 'string') return verdict
  const parsed = parseJson(args)
  if (!parsed.ok || !(parsed.value instanceof ObjectValue)) return 'no_projection'
  if (verdict.checksHosts && !areHostsKnown(parsed.value, context.knownHosts)) {
    return 'unsafe_argument'
  }
  const key = callKey(tool.server, tool.name, parsed.value)
  if (key === null) return 'unsafe_argument'
  if (context.isInContext(key)) return 'in_context'
  return context.isCached(key) ? 'cached' : { key }
}

function addCandidate(
  candidates: Map<string, Candidate>,
  declined: DeclinedCall[],
  offering: Offering,
  tool: CatalogueTool,
  call: OfferedCall,
  context: PlanContext,
): void {
  const offer = offerOf(offering, call)
  const screened = screenArguments(tool, call.args, context)
  const probability = context.probabilities.of(offer)
  const isProbable = probability > 0 && probability >= context.minProbability
  if (typeof screened === 'string' || !isProbable) {
    const reason = typeof screened === 'string' ? screened : 'below_probability'
    declined.push({ tool: tool.name, server: tool.server, args: call.args, reason, offer })
    return
  }
  const { key } = screened
  const known = candidates.get(key)
  if (known !== undefined && known.probability >= probability) return
  candidates.set(key, {
    ...{ tool, args: call.args, key, link: offering.link, offer, probability, dependents: [] },
    options: optionsOf(tool, probability, context),
  })
}

/** Attaches calls to the candidates whose results have their arguments. */
function addDependents(
  candidates: ReadonlyMap<string, Candidate>,
  declined: DeclinedCall[],
  offering: Offering,
  tool: CatalogueTool,
  context: PlanContext,
): void {
  const { link, server, trigger } = offering
  const required = context.findTool(link.requires as string, server)
  const hosts = [...candidates.values()].filter(
    ({ tool, offer }) =>
      tool.name === required?.name && tool.server === required.server && offer.trigger === trigger,
  )
  if (hosts.length === 0) {
    const same = declined.find(
      ({ tool, server }) => tool === required?.name && server === required.server,
    )
    declined.push(declineLink(offering, same?.reason ?? 'no_projection'))
  }
  for (const host of hosts) {
    const offer = { ...offerOf(offering, host.offer), trigger: host.tool.name }
    // It is of use only if the call that it requires is.
    const probability = Math.min(context.probabilities.of(offer), host.probability)
    const reason =
      probability <= 0 || probability < context.minProbability
        ? 'below_probability'
        : host.dependents.length >= MAX_DEPENDENTS
          ? 'parallel_limit'
          : undefined
    if (reason !== undefined) {
      declined.push({ tool: tool.name, server: tool.server, args: null, reason, offer })
      continue
    }
    host.dependents.push({
      ...{ tool, args: null, key: null, link, offer, probability, dependents: [] },
      options: optionsOf(tool, probability, context),
    })
  }
}

function solve(
  candidates: readonly Candidate[],
  declined: DeclinedCall[],
  { budgetTokens }: PlanContext,
): Plan {
  const items: ChoiceItem[] = candidates.map(({ options, dependents }) => ({
    options,
    dependents: dependents.map(({ options }) => options),
  }))
  const { picks, value, cost_tokens, bound } = chooseCalls(items, budgetTokens)
  const chosen = candidates.flatMap((candidate, i) => {
    const { option, dependents } = picks[i]!
    const picked = candidate.options[option]
    const rejected = candidate.dependents.filter((_, j) => (dependents[j] ?? NONE) === NONE)
    for (const each of picked === undefined ? [candidate, ...rejected] : rejected) {
      declined.push(declineCandidate(each))
    }
    return picked === undefined ? [] : [{ candidate, picked, dependents }]
  })
  chosen.sort(
    (a, b) => b.picked.value / b.picked.cost_tokens - a.picked.value / a.picked.cost_tokens,
  )
  const calls: PlannedCall[] = []
  for (const { candidate, picked, dependents } of chosen) {
    const requires = calls.push(plannedCall(candidate, picked, null)) - 1
    candidate.dependents.forEach((dependent, j) => {
      const option = dependent.options[dependents[j] ?? NONE]
      if (option !== undefined) calls.push(plannedCall(dependent, option, requires))
    })
  }
  return { calls, declined, value, cost_tokens, bound }
}

function plannedCall(
  { tool, args, key, link, offer, probability }: Candidate,
  { include, cost_tokens, value }: CallOption,
  requires: number | null,
): PlannedCall {
  return { tool, args, key, requires, link, offer, probability, include, cost_tokens, value }
}

function optionsOf(
  tool: CatalogueTool,
  probability: number,
  context: PlanContext,
): readonly CallOption[] {
  const { models, keywords, isCostAware } = context
  const observedTokens = context.observedTokens(tool)
  const { model } = models.find(tool.name, tool.server)
  return callOptions(model, { probability, keywords, observedTokens, isCostAware })
}

function offerOf(
  { trigger, link }: Offering,
  { rank, listed }: Pick<Offer, 'rank' | 'listed'>,
): Offer {
  return { trigger, target: link.tool, prior: link.probability, rank, listed }
}

function declineLink({ link, server }: Offering, reason: DeclineReason): DeclinedCall {
  return { tool: link.tool, server, args: null, reason }
}

function declineCandidate({ tool, args, offer }: Candidate): DeclinedCall {
  return { tool: tool.name, server: tool.server, args, reason: 'budget', offer }
}
