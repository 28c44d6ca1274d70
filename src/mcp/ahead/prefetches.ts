import type { OfferedFacts, Prefetch, PrefetchBatch, ScopedCall } from '../../ahead/prefetch.ts'
import { callKey } from '../../core/enrich/call-key.ts'
import { screenArguments } from '../../core/enrich/candidates.ts'
import { eligibilityOf, type ListedTool } from '../../core/enrich/eligibility.ts'
import { argumentNames } from '../../core/enrich/observed-costs.ts'
import type { DeclineReason, Offering, PlanContext, PlannedCall } from '../../core/enrich/plan.ts'
import { planCalls } from '../../core/enrich/planner.ts'
import type { OfferedCall, OfferLink } from '../../core/enrich/projections.ts'
import type { FollowUp } from '../../core/enrich/value-model.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { listedTool, toolFacts } from '../catalogue/tool-facts.ts'
import type { Servers } from '../servers.ts'
import { type KnownCall, keyOf } from './known-call.ts'
import type { EnrichmentNeeds, LandedResult } from './offer-reader.ts'
import type { PrefetchCalls } from './prefetch-calls.ts'

export interface PrefetchesOptions extends Pick<EnrichmentNeeds, 'shared' | 'read'> {
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
    const wanted = links.flatMap(link => this.#linkTerms(link, tool.server) ?? [])
    // What results of a tool take is learned once a call of it was offered.
    const isSized = !isServed && this.#targets.has(this.#costKey(tool))
    if (wanted.length === 0 && !isSized) return null
    const began = this.#ended
    const [found, probabilities] = await Promise.all([
      read(result, { links: wanted, args: new Uint8Array(bytes) }),
      shared.habits.of(tenant),
    ])
    if (found === null || !found.isComplete || began !== this.#ended) return null
    if (!isServed) this.#observeCost(tool, trigger.args, found.tokens)
    const projected = new Map(wanted.map(({ link }, at) => [link, found.calls[at] ?? []]))
    const offerings = links.map((link): Offering => {
      const calls = link.requires === undefined ? (projected.get(link) ?? []) : []
      return { trigger: tool.name, server: tool.server, link, calls }
    })
    return this.#carryOut(offerings, trigger, probabilities)
  }

  #carryOut(
    offerings: readonly Offering[],
    trigger: KnownCall,
    probabilities: PlanContext['probabilities'],
  ): PrefetchBatch {
    const context = this.#planContext(trigger, probabilities)
    const { calls, declined } = planCalls(offerings, context)
    const wanted = calls.flatMap((call, at) => {
      const dependents = calls.filter(({ requires }) => requires === at)
      return call.args === null ? [] : [{ ...call, args: call.args, dependents }]
    })
    const offered = declined.flatMap(({ tool, server, args, reason, offer }): OfferedFacts[] => {
      const key = keyOf(server, tool, args)
      if (key === null || offer === undefined) return []
      return [{ offer, key, server, tool, session: trigger.session, predicted: 0, reason }]
    })
    const reasons = declined.map(({ reason }) => reason)
    return this.#start(wanted, { trigger, context }, reasons, offered)
  }

  /** @param reasons why others were declined @param offered what is known of these */
  #start(
    wanted: readonly WantedCall[],
    plan: MadePlan,
    reasons: readonly DeclineReason[],
    offered: readonly OfferedFacts[],
  ): PrefetchBatch {
    const { shared, tenant } = this.#options
    const { context, session } = plan.trigger
    const prefetches = wanted.map(call => this.#prefetch(call, plan))
    const batch = shared.speculation.prefetch(prefetches)
    const refused = new Map(batch.declined.map(({ call, reason }) => [call, reason]))
    const all = [...reasons, ...refused.values()]
    if (all.length > 0) shared.observer({ kind: 'declined', reasons: all, tenant, session })
    const watched = prefetches.flatMap(({ call, facts }): OfferedFacts[] => {
      const reason = refused.get(call)
      if (reason === undefined) return [facts]
      return reason === 'cached' ? [] : [{ ...facts, predicted: 0, reason }]
    })
    shared.contexts.watch(context, [...offered, ...watched])
    return batch
  }

  #prefetch(
    { tool, args, hosts, offer, cost_tokens, dependents }: WantedCall,
    plan: MadePlan,
  ): Prefetch<LandedResult> {
    const { shared, calls, scopeOf } = this.#options
    const { context, session } = plan.trigger
    const { name, server } = tool
    const { model } = shared.models.find(name, server)
    const ttl = model.cost_model.freshness_ttl_s
    const call: ScopedCall = { scope: scopeOf(server), tool: name, args }
    const links = dependents.flatMap(({ link }) => this.#linkTerms(link, server) ?? [])
    const key = callKey(server, name, args)
    const facts: OfferedFacts = { offer, key, server, tool: name, session, predicted: cost_tokens }
    return {
      call,
      context,
      facts,
      host: model.rate_limit_host ?? hosts?.[0] ?? `server ${server}`,
      ...(ttl === undefined ? {} : { ttlMs: ttl * 1_000 }),
      fetch: signal => calls.fetch(call, { links, args: Buffer.from(args) }, signal),
      onLanded: landed => {
        const { tokens, bytes } = landed
        this.#observeCost(tool, args, tokens)
        shared.observer({ kind: 'predicted', predicted: cost_tokens, actual: tokens })
        facts.landed = { tokens, bytes: bytes.length }
        this.#startDependents(dependents, landed, plan)
      },
    }
  }

  /** Calls whose arguments are in a result that was fetched ahead. They require nothing else. */
  #startDependents(dependents: readonly PlannedCall[], landed: LandedResult, plan: MadePlan): void {
    const wanted: WantedCall[] = []
    const reasons: DeclineReason[] = []
    dependents.forEach(({ tool, offer, cost_tokens }, at) => {
      for (const call of landed.calls[at] ?? []) {
        const reason = screenArguments(tool, call, plan.context)
        const own = { ...offer, rank: call.rank, listed: call.listed }
        if (reason !== null) reasons.push(reason)
        else wanted.push({ ...call, tool, offer: own, cost_tokens, dependents: [] })
      }
    })
    this.#start(wanted, plan, reasons, [])
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
    const schema = entry === undefined ? null : toolFacts(entry.raw).inputSchema
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
    return this.#options.calls.asSeen(listedTool(entry, servers.settingsOf(entry.server).trusted))
  }

  #observeCost(tool: ListedTool, args: string | null, tokens: number): void {
    this.#options.shared.costs.observe(this.#costKey(tool), argumentNames(args), tokens)
  }

  #costKey({ server, name }: ListedTool): string {
    return JSON.stringify([this.#options.tenant, server, name])
  }
}

const SEPARATOR = '__'

/** A call that is to be made ahead, and those whose arguments are in its result. */
interface WantedCall extends Pick<PlannedCall, 'tool' | 'offer' | 'cost_tokens'> {
  readonly args: string
  readonly hosts?: OfferedCall['hosts']
  readonly dependents: readonly PlannedCall[]
}

/** What was planned after a result. */
interface MadePlan {
  readonly trigger: KnownCall
  readonly context: PlanContext
}
