import { callKey } from './call-key.ts'
import { type CallOption, callOptions } from './call-options.ts'
import { eligibilityOf, type ListedTool } from './eligibility.ts'
import { argumentNames } from './observed-costs.ts'
import type { DeclinedCall, DeclineReason, Offering, PlanContext, PossibleCall } from './plan.ts'
import type { Offer } from './probability.ts'
import type { OfferedCall } from './projections.ts'

/** A call that may be made ahead, before the budget is known to have room. */
export interface Candidate extends PossibleCall {
  /** Their values if the call is certain to be used. */
  readonly options: readonly CallOption[]
  readonly dependents: Candidate[]
}

/** The tool of a link, if it may be called ahead. */
interface Target {
  readonly tool: ListedTool
  /** Addresses among the arguments must be of hosts that the model has called. */
  readonly checksHosts: boolean
}

type ScreeningContext = Pick<
  PlanContext,
  'models' | 'isUp' | 'knownHosts' | 'isInContext' | 'isCached'
>

/** Calls that wait for one result; more are declined. */
const MAX_DEPENDENTS = 3

/** Sorts what is offered into candidates and calls that are declined. */
export class Candidates {
  readonly declined: DeclinedCall[] = []
  readonly #context: PlanContext
  readonly #byKey = new Map<string, Candidate>()

  constructor(context: PlanContext) {
    this.#context = context
  }

  get all(): readonly Candidate[] {
    return [...this.#byKey.values()]
  }

  /** Takes the calls of a link whose arguments are known. */
  addCalls(offering: Offering): void {
    const target = this.#targetOf(offering)
    if (target === null) return
    if (offering.calls.length === 0) this.#declineLink(offering, 'no_projection')
    // A link fills the same arguments in all of its calls.
    const options = this.#optionsOf(target.tool, offering.calls[0]?.args ?? null)
    for (const call of offering.calls) this.#addCall(offering, call, target, options)
  }

  /** Attaches the call of a link to the candidates whose results have its arguments. */
  addDependents(offering: Offering): void {
    const target = this.#targetOf(offering)
    if (target === null) return
    const { link, server, trigger } = offering
    const required = this.#context.findTool(link.requires as string, server)
    const isRequired = (name: string, server: string) =>
      name === required?.name && server === required.server
    const bases = this.all.filter(({ tool, offer }) => {
      return isRequired(tool.name, tool.server) && offer.trigger === trigger
    })
    for (const base of bases) this.#addDependent(offering, base, target.tool)
    if (bases.length > 0) return
    const same = this.declined.find(({ tool, server }) => isRequired(tool, server))
    this.#declineLink(offering, same?.reason ?? 'no_projection')
  }

  #targetOf(offering: Offering): Target | null {
    const { link, server } = offering
    const target = screenTool(this.#context.findTool(link.tool, server), this.#context)
    if (typeof target !== 'string') return target
    this.#declineLink(offering, target)
    return null
  }

  #addCall(
    offering: Offering,
    call: OfferedCall,
    target: Target,
    options: readonly CallOption[],
  ): void {
    const { tool } = target
    const offer = offerOf(offering, call)
    const probability = this.#context.probabilities.of(offer)
    const screened = screenCall(target, call, this.#context)
    const reason = screened ?? (this.#isProbable(probability) ? null : 'below_probability')
    if (reason !== null) {
      this.decline({ tool, args: call.args, offer }, reason)
      return
    }
    const { link } = offering
    const { args } = call
    const key = callKey(tool.server, tool.name, args)
    if ((this.#byKey.get(key)?.probability ?? 0) >= probability) return
    this.#byKey.set(key, { tool, args, key, link, offer, probability, options, dependents: [] })
  }

  #addDependent(offering: Offering, base: Candidate, tool: ListedTool): void {
    const offer = { ...offerOf(offering, base.offer), trigger: base.tool.name }
    // It is useful only if the call that it requires is useful.
    const probability = Math.min(this.#context.probabilities.of(offer), base.probability)
    if (!this.#isProbable(probability)) {
      this.decline({ tool, args: null, offer }, 'below_probability')
    } else if (base.dependents.length >= MAX_DEPENDENTS) {
      this.decline({ tool, args: null, offer }, 'parallel_limit')
    } else {
      const { link } = offering
      const unknown = { args: null, key: null, options: this.#optionsOf(tool, null) }
      base.dependents.push({ tool, link, offer, probability, dependents: [], ...unknown })
    }
  }

  #isProbable(probability: number): boolean {
    return probability > 0 && probability >= this.#context.minProbability
  }

  #optionsOf(tool: ListedTool, args: string | null): readonly CallOption[] {
    const { models, keywords, isCostAware } = this.#context
    const { model } = models.find(tool.name, tool.server)
    const observedTokens = this.#context.observedTokens(tool, argumentNames(args))
    return callOptions(model, { keywords, observedTokens, isCostAware })
  }

  decline(call: Pick<Candidate, 'tool' | 'args' | 'offer'>, reason: DeclineReason): void {
    const { tool, args, offer } = call
    this.declined.push({ tool: tool.name, server: tool.server, args, reason, offer })
  }

  #declineLink({ link, server }: Offering, reason: DeclineReason): void {
    this.declined.push({ tool: link.tool, server, args: null, reason })
  }
}

/** Why a call may not be made ahead whose arguments became known after the plan; else `null`. */
export function screenArguments(
  tool: ListedTool,
  call: OfferedCall,
  context: ScreeningContext,
): DeclineReason | null {
  const target = screenTool(tool, context)
  return typeof target === 'string' ? target : screenCall(target, call, context)
}

function screenTool(
  tool: ListedTool | undefined,
  { models, isUp }: Pick<PlanContext, 'models' | 'isUp'>,
): Target | DeclineReason {
  if (tool === undefined) return 'not_speculatable'
  const eligibility = eligibilityOf(tool, models.find(tool.name, tool.server))
  if (!eligibility.isEligible) return eligibility.reason
  return isUp(tool.server) ? { tool, checksHosts: eligibility.checksHosts } : 'upstream_down'
}

function screenCall(
  { tool, checksHosts }: Target,
  { args, hosts }: OfferedCall,
  { knownHosts, isInContext, isCached }: ScreeningContext,
): DeclineReason | null {
  // A planted search result could name any other host.
  const isSafe = hosts?.every(host => knownHosts.has(host)) ?? false
  if (checksHosts && !isSafe) return 'unsafe_argument'
  const key = callKey(tool.server, tool.name, args)
  if (isInContext(key)) return 'in_context'
  return isCached(key, { tool, args }) ? 'cached' : null
}

function offerOf(
  { trigger, server, link }: Offering,
  { rank, listed }: Pick<Offer, 'rank' | 'listed'>,
): Offer {
  return { trigger, target: link.tool, server, prior: link.probability, rank, listed }
}
