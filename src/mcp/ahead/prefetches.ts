import type { Watch } from '../../ahead/agent-contexts.ts'
import type { Enrichment } from '../../ahead/enrichment.ts'
import type { OfferedFacts, Prefetch, PrefetchBatch, ScopedCall } from '../../ahead/prefetch.ts'
import { screenArguments } from '../../core/enrich/candidates.ts'
import { eligibilityOf, type ListedTool } from '../../core/enrich/eligibility.ts'
import { argumentNames } from '../../core/enrich/observed-costs.ts'
import type { DeclineReason, Offering, PlanContext, PlannedCall } from '../../core/enrich/plan.ts'
import { planCalls } from '../../core/enrich/planner.ts'
import type { OfferedCall, OfferLink } from '../../core/enrich/projections.ts'
import type { FollowUp } from '../../core/enrich/value-model.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Servers } from '../servers.ts'
import type { LandedResult } from './enrichment-needs.ts'
import { type KnownCall, keyOf } from './known-call.ts'
import type { OfferReader } from './offer-reader.ts'
import type { PrefetchCalls } from './prefetch-calls.ts'
import { catalogueTool, toolDefinition } from './tool-definition.ts'

export interface PrefetchesOptions {
  readonly shared: Enrichment<LandedResult>
  readonly read: OfferReader
  readonly servers: Servers
  readonly calls: PrefetchCalls
  readonly tenant: string
  scopeOf(server: string): ScopedCall['scope']
}

/** Plans what may come after a result of one client, and has it fetched. */
export class Prefetches {
  readonly #options: PrefetchesOptions
  /** Counts what ended contexts: a plan that was begun before is not carried out. */
  #ended = 0
  /** Tools that links lead to, as `#costKey` names them. Links are few. */
  readonly #targets = new Set<string>()

  constructor(options: PrefetchesOptions) {
    this.#options = options
  }

  /** Plans that are being made are given up. */
  end(): void {
    this.#ended++
  }

  /**
   * Fetches ahead what the result offers. Resolves when the fetches have begun, with `null` if
   * there is nothing to fetch.
   * @param isServed whether the result was fetched ahead, and its size observed then
   */
  async after(
    trigger: KnownCall,
    result: JsonBytes,
    isServed: boolean,
  ): Promise<PrefetchBatch | null> {
    const { read, shared, tenant } = this.#options
    const { tool, bytes } = trigger
    const links = trigger.found.model.follow_up.filter(link => link.tool !== tool.name)
    const terms = links.map(link => this.#linkTerms(link, tool.server))
    // What results of a tool take is learned once a call of it was offered.
    const isSized = !isServed && this.#targets.has(this.#costKey(tool))
    if (terms.every(each => each === null) && !isSized) return null
    const began = this.#ended
    const wanted = terms.flatMap(each => (each === null ? [] : [each]))
    const [found, probabilities] = await Promise.all([
      read(result, { links: wanted, args: new Uint8Array(bytes) }),
      shared.habits.of(tenant),
    ])
    if (found === null || !found.isComplete || began !== this.#ended) return null
    if (!isServed) this.#observeCost(tool, trigger.args, found.tokens)
    const projected = [...found.calls]
    const offerings = links.map((link, at): Offering => {
      const calls = terms[at] === null ? [] : (projected.shift() ?? [])
      const isKnown = link.requires === undefined
      return { trigger: tool.name, server: tool.server, link, calls: isKnown ? calls : [] }
    })
    return this.#carryOut(offerings, trigger, probabilities)
  }

  #carryOut(
    offerings: readonly Offering[],
    trigger: KnownCall,
    probabilities: PlanContext['probabilities'],
  ): PrefetchBatch {
    const context = this.#planContext(trigger, probabilities)
    const plan = planCalls(offerings, context)
    const watches: Watch[] = []
    for (const { tool, server, args, reason, offer } of plan.declined) {
      const key = keyOf(server, tool, args)
      if (key !== null && offer !== undefined) {
        const { session } = trigger
        watches.push({ offer, facts: { key, server, tool, session, predicted: 0, reason } })
      }
    }
    const planned = plan.calls.flatMap((call, at) => {
      const dependents = plan.calls.filter(({ requires }) => requires === at)
      const { args } = call
      return args === null ? [] : [{ call: { ...call, args }, dependents }]
    })
    const prefetches = planned.map(({ call, dependents }) => {
      const { offer, cost_tokens } = call
      return this.#prefetch(call, trigger, { offer, cost_tokens, dependents, context })
    })
    const reasons = plan.declined.map(({ reason }) => reason)
    return this.#start(prefetches, trigger, watches, reasons)
  }

  /** @param reasons why others of the plan were declined */
  #start(
    prefetches: readonly PlannedPrefetch[],
    { context, session }: Pick<KnownCall, 'context' | 'session'>,
    watches: Watch[],
    reasons: DeclineReason[],
  ): PrefetchBatch {
    const { shared, tenant } = this.#options
    const batch = shared.speculation.prefetch(prefetches.map(({ prefetch }) => prefetch))
    const declined = new Map(batch.declined.map(({ call, reason }) => [call, reason]))
    for (const { prefetch, watch } of prefetches) {
      const reason = declined.get(prefetch.call)
      if (reason !== undefined) reasons.push(reason)
      if (reason === undefined) watches.push(watch)
      else if (reason !== 'cached') {
        const { offer, facts } = watch
        watches.push({ offer, facts: { ...facts, predicted: 0, reason } })
      }
    }
    if (reasons.length > 0) shared.observer({ kind: 'declined', reasons, tenant, session })
    shared.contexts.watch(context, watches)
    return batch
  }

  #prefetch(
    { tool, args, hosts }: Target,
    trigger: KnownCall,
    { offer, cost_tokens, dependents, context }: PrefetchTerms,
  ): PlannedPrefetch {
    const { shared, calls, scopeOf } = this.#options
    const { name, server } = tool
    const { model } = shared.models.find(name, server)
    const ttl = model.cost_model.freshness_ttl_s
    const call: ScopedCall = { scope: scopeOf(server), tool: name, args }
    const terms = {
      links: dependents.flatMap(({ link }) => this.#linkTerms(link, server) ?? []),
      args: Buffer.from(args),
    }
    const facts: OfferedFacts = {
      key: keyOf(server, name, args) as string,
      server,
      tool: name,
      session: trigger.session,
      predicted: cost_tokens,
    }
    const prefetch: Prefetch<LandedResult> = {
      call,
      context: trigger.context,
      facts,
      host: model.rate_limit_host ?? hosts?.[0] ?? `server ${server}`,
      ...(ttl === undefined ? {} : { ttlMs: ttl * 1_000 }),
      fetch: signal => calls.fetch(call, terms, signal),
      onLanded: landed => {
        const { tokens, bytes } = landed
        this.#observeCost(tool, args, tokens)
        shared.observer({ kind: 'predicted', predicted: cost_tokens, actual: tokens })
        facts.landed = { tokens, bytes: bytes.length }
        this.#startDependents(dependents, landed, trigger, context)
      },
    }
    return { prefetch, watch: { offer, facts } }
  }

  /** Calls whose arguments are in a result that was fetched ahead. They require nothing else. */
  #startDependents(
    dependents: readonly PlannedCall[],
    landed: LandedResult,
    trigger: KnownCall,
    context: PlanContext,
  ): void {
    const prefetches: PlannedPrefetch[] = []
    const reasons: DeclineReason[] = []
    dependents.forEach(({ tool, offer, cost_tokens }, at) => {
      for (const offered of landed.calls[at] ?? []) {
        const screened = screenArguments(tool, offered, context)
        if (typeof screened === 'string') reasons.push(screened)
        else {
          const { rank, listed } = offered
          const terms = { offer: { ...offer, rank, listed }, cost_tokens, dependents: [], context }
          prefetches.push(this.#prefetch({ ...offered, tool }, trigger, terms))
        }
      }
    })
    this.#start(prefetches, trigger, [], reasons)
  }

  #planContext(
    { keywords, context }: KnownCall,
    probabilities: PlanContext['probabilities'],
  ): PlanContext {
    const { shared, servers, scopeOf } = this.#options
    return {
      ...shared.settings,
      models: shared.models,
      probabilities,
      keywords,
      // Read when it is asked: the result of a required call may come later.
      get knownHosts() {
        return shared.contexts.knownHosts(context)
      },
      findTool: (name, server) => this.#findTool(name, server),
      isUp: server => servers.isCurrent(server),
      isInContext: key => shared.contexts.isInContext(context, key),
      isCached: (_, { tool, args }) =>
        shared.speculation.has({ scope: scopeOf(tool.server), tool: tool.name, args }),
      observedTokens: (tool, names) => shared.costs.expected(this.#costKey(tool), names),
    }
  }

  /** What the worker needs for a link; `null` if its target cannot be called ahead. */
  #linkTerms(link: FollowUp, server: string): OfferLink | null {
    const { shared, servers } = this.#options
    const tool = this.#findTool(link.tool, server)
    if (tool === undefined) return null
    const { isEligible } = eligibilityOf(tool, shared.models.find(tool.name, tool.server))
    const entry = servers.catalogue.ownTool(tool.server, tool.name)
    const schema = entry === undefined ? null : toolDefinition(entry.raw).inputSchema
    if (!isEligible || schema === null) return null
    this.#targets.add(this.#costKey(tool))
    return { link, inputSchema: new Uint8Array(schema), takesOver: tool.server === server }
  }

  /** The tool that a link names: of the same server, or `{server}__{tool}` of another one. */
  #findTool(name: string, server: string): ListedTool | undefined {
    const { servers } = this.#options
    let entry = servers.catalogue.ownTool(server, name)
    if (entry === undefined) {
      const at = name.indexOf(SEPARATOR)
      const [other, own] = [name.slice(0, at), name.slice(at + SEPARATOR.length)]
      entry = at === -1 ? undefined : servers.catalogue.ownTool(other, own)
    }
    if (entry === undefined) return undefined
    return this.#options.calls.asSeen(
      catalogueTool(entry, servers.settingsOf(entry.server).trusted),
    )
  }

  #observeCost(tool: ListedTool, args: string | null, tokens: number): void {
    this.#options.shared.costs.observe(this.#costKey(tool), argumentNames(args), tokens)
  }

  #costKey({ server, name }: ListedTool): string {
    return JSON.stringify([this.#options.tenant, server, name])
  }
}

const SEPARATOR = '__'

/** A call that is to be made ahead. */
interface Target {
  readonly tool: ListedTool
  readonly args: string
  readonly hosts?: OfferedCall['hosts']
}

interface PrefetchTerms extends Pick<PlannedCall, 'offer' | 'cost_tokens'> {
  readonly dependents: readonly PlannedCall[]
  readonly context: PlanContext
}

interface PlannedPrefetch {
  readonly prefetch: Prefetch<LandedResult>
  readonly watch: Watch
}
