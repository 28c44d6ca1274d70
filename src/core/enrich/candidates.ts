import { callKey } from './call-key.ts'
import { type CallOption, callOptions } from './call-options.ts'
import { type Eligibility, eligibilityOf, type ListedTool } from './eligibility.ts'
import { argumentNames } from './observed-costs.ts'
import type { DeclinedCall, DeclineReason, Offering, PlanContext } from './plan.ts'
import type { Offer } from './probability.ts'
import type { OfferedCall } from './projections.ts'
import type { FollowUp } from './value-model.ts'

/** A call that may be made ahead, before the budget is known to have room. */
export interface Candidate {
  readonly tool: ListedTool
  readonly args: string | null
  readonly key: string | null
  readonly link: FollowUp
  readonly offer: Offer
  readonly probability: number
  /** Their values if the call is certain to be used. */
  readonly options: readonly CallOption[]
  readonly dependents: Candidate[]
}

/** Under which condition a tool may be called ahead. */
type Permission = Extract<Eligibility, { isEligible: true }>

/** The tool of a link, and what all of the link's calls have in common. */
interface Target {
  readonly tool: ListedTool
  readonly permission: Permission
  readonly options: readonly CallOption[]
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
  /** A tool's options for a call that is certain to be used, by the names of its arguments. */
  readonly #options = new Map<ListedTool, Map<string | undefined, readonly CallOption[]>>()

  constructor(context: PlanContext) {
    this.#context = context
  }

  get all(): readonly Candidate[] {
    return [...this.#byKey.values()]
  }

  /** Takes the calls of a link whose arguments are known. */
  addCalls(offering: Offering): void {
    const tool = this.#findTool(offering)
    if (tool === null) return
    const { found, permission } = tool
    if (offering.calls.length === 0) this.#declineLink(offering, 'no_projection')
    // A link fills the same arguments in all of its calls.
    const names = argumentNames(offering.calls[0]?.args ?? null)
    const options = this.#optionsOf(found, names)
    const target = { tool: found, permission, options }
    for (const call of offering.calls) this.#addCall(offering, call, target)
  }

  /** Attaches the call of a link to the candidates whose results have its arguments. */
  addDependents(offering: Offering): void {
    const tool = this.#findTool(offering)
    if (tool === null) return
    const { link, server, trigger } = offering
    const required = this.#context.findTool(link.requires as string, server)
    const isRequired = (name: string, server: string) =>
      name === required?.name && server === required.server
    const bases: Candidate[] = []
    for (const candidate of this.#byKey.values()) {
      const { tool, offer } = candidate
      if (isRequired(tool.name, tool.server) && offer.trigger === trigger) bases.push(candidate)
    }
    for (const base of bases) this.#addDependent(offering, base, tool.found)
    if (bases.length > 0) return
    const same = this.declined.find(({ tool, server }) => isRequired(tool, server))
    this.#declineLink(offering, same?.reason ?? 'no_projection')
  }

  #findTool(offering: Offering): { found: ListedTool; permission: Permission } | null {
    const { link, server } = offering
    const found = this.#context.findTool(link.tool, server)
    const permission = screenTool(found, this.#context)
    if (found !== undefined && typeof permission !== 'string') return { found, permission }
    this.#declineLink(offering, permission as DeclineReason)
    return null
  }

  #addCall(offering: Offering, call: OfferedCall, { tool, permission, options }: Target): void {
    const offer = offerOf(offering, call)
    const probability = this.#context.probabilities.of(offer)
    const screened = screenCall(tool, call, permission, this.#context)
    if (typeof screened === 'string' || !this.#isProbable(probability)) {
      const reason = typeof screened === 'string' ? screened : 'below_probability'
      this.#decline(tool, call.args, reason, offer)
      return
    }
    const { key } = screened
    const known = this.#byKey.get(key)
    if (known !== undefined && known.probability >= probability) return
    const { link } = offering
    const { args } = call
    this.#byKey.set(key, { tool, args, key, link, offer, probability, options, dependents: [] })
  }

  #addDependent(offering: Offering, base: Candidate, tool: ListedTool): void {
    const offer = { ...offerOf(offering, base.offer), trigger: base.tool.name }
    // It is useful only if the call that it requires is useful.
    const probability = Math.min(this.#context.probabilities.of(offer), base.probability)
    if (!this.#isProbable(probability)) {
      this.#decline(tool, null, 'below_probability', offer)
    } else if (base.dependents.length >= MAX_DEPENDENTS) {
      this.#decline(tool, null, 'parallel_limit', offer)
    } else {
      const options = this.#optionsOf(tool, undefined)
      const { link } = offering
      const unknown = { args: null, key: null, dependents: [] }
      base.dependents.push({ tool, link, offer, probability, options, ...unknown })
    }
  }

  #isProbable(probability: number): boolean {
    return probability > 0 && probability >= this.#context.minProbability
  }

  #optionsOf(tool: ListedTool, names: string | undefined): readonly CallOption[] {
    const ofTool = this.#options.get(tool) ?? new Map<string | undefined, readonly CallOption[]>()
    const known = ofTool.get(names)
    if (known !== undefined) return known
    const { models, keywords, isCostAware } = this.#context
    const { model } = models.find(tool.name, tool.server)
    const observedTokens = this.#context.observedTokens(tool, names)
    const options = callOptions(model, { probability: 1, keywords, observedTokens, isCostAware })
    this.#options.set(tool, ofTool.set(names, options))
    return options
  }

  #decline(tool: ListedTool, args: string | null, reason: DeclineReason, offer: Offer): void {
    this.declined.push({ tool: tool.name, server: tool.server, args, reason, offer })
  }

  #declineLink({ link, server }: Offering, reason: DeclineReason): void {
    this.declined.push({ tool: link.tool, server, args: null, reason })
  }
}

/**
 * Whether a call may be made ahead whose arguments became known after the plan: its key, or why it
 * may not.
 */
export function screenArguments(
  tool: ListedTool,
  call: OfferedCall,
  context: ScreeningContext,
): { readonly key: string } | DeclineReason {
  const permission = screenTool(tool, context)
  return typeof permission === 'string' ? permission : screenCall(tool, call, permission, context)
}

function screenTool(
  tool: ListedTool | undefined,
  { models, isUp }: Pick<PlanContext, 'models' | 'isUp'>,
): DeclineReason | Permission {
  if (tool === undefined) return 'not_speculatable'
  const eligibility = eligibilityOf(tool, models.find(tool.name, tool.server))
  if (!eligibility.isEligible) return eligibility.reason
  return isUp(tool.server) ? eligibility : 'upstream_down'
}

function screenCall(
  tool: ListedTool,
  { args, hosts }: OfferedCall,
  { checksHosts }: Permission,
  context: ScreeningContext,
): { readonly key: string } | DeclineReason {
  const { knownHosts } = context
  // A planted search result could name any other host.
  const isSafe = hosts?.every(host => knownHosts.has(host)) ?? false
  if (checksHosts && !isSafe) return 'unsafe_argument'
  const key = callKey(tool.server, tool.name, args)
  if (context.isInContext(key)) return 'in_context'
  return context.isCached(key, { tool, args }) ? 'cached' : { key }
}

function offerOf(
  { trigger, server, link }: Offering,
  { rank, listed }: Pick<Offer, 'rank' | 'listed'>,
): Offer {
  return { trigger, target: link.tool, server, prior: link.probability, rank, listed }
}
