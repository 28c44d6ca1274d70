import { callKey, canonicalArguments } from '../../core/enrich/call-key.ts'
import { type ListedTool, mayMutate } from '../../core/enrich/eligibility.ts'
import { intentKeywords } from '../../core/enrich/intent.ts'
import type { Models } from '../../core/enrich/models.ts'
import { argumentNames, type ObservedCosts } from '../../core/enrich/observed-costs.ts'
import type { DeclineReason, Offering } from '../../core/enrich/plan.ts'
import { planCalls } from '../../core/enrich/planner.ts'
import type { Offer, Probabilities } from '../../core/enrich/probability.ts'
import { projectCalls } from '../../core/enrich/projections.ts'
import { readTrigger } from '../../core/enrich/result-values.ts'
import { hostsOf } from '../../core/enrich/url-arguments.ts'
import type { RecordedCall } from './link-miner.ts'

/** What plans are made with; what is learned in one session is known in the next. */
export interface PlayTerms {
  readonly models: Models
  readonly probabilities: Probabilities
  readonly costs: ObservedCosts
  readonly minProbability: number
  readonly budgetTokens: number
  readonly maxParallel: number
  countTokens(text: string): number
}

/** What became of one offered call. */
export interface PlayedOffer {
  readonly tool: string
  readonly offer: Offer
  /** `null` if it was made ahead. */
  readonly declined: DeclineReason | null
  /** Made by the agent within its next three calls. */
  readonly isUsed: boolean
  /** Its result would still have been there: nothing that may change something came between. */
  readonly isServed: boolean
  /** Tokens of its result; `actual` is known if it was used. */
  readonly predicted: number
  readonly actual: number | null
}

interface OpenOffer {
  readonly key: string
  readonly tool: string
  readonly offer: Offer
  readonly declined: DeclineReason | null
  readonly predicted: number
  left: number
  isStale: boolean
}

const TURNS = 3
const SERVER = ''

/** Plays one session with the planner. Nothing is called. */
export function playSession(calls: readonly RecordedCall[], terms: PlayTerms): PlayedOffer[] {
  const { models, probabilities, costs } = terms
  const played: PlayedOffer[] = []
  const made = new Set<string>()
  const hosts = new Set<string>()
  let waiting: OpenOffer[] = []

  function settle(each: OpenOffer, actual: number | null): void {
    const { tool, offer, declined, predicted, isStale } = each
    const isUsed = actual !== null
    probabilities.observe(offer, isUsed)
    played.push({ tool, offer, declined, isUsed, isServed: isUsed && !isStale, predicted, actual })
  }

  for (const call of calls) {
    const args = canonicalArguments(call.args)
    const key = args === null ? null : callKey(SERVER, call.tool, args)
    const tokens = terms.countTokens(call.text)
    waiting = waiting.filter(each => {
      each.left--
      if (each.key === key) settle(each, tokens)
      else if (each.left === 0) settle(each, null)
      return each.key !== key && each.left > 0
    })
    if (mayMutate(asTool(call.tool), models.find(call.tool, SERVER))) {
      for (const each of waiting) each.isStale = true
      made.clear()
    }
    for (const host of hostsOf(call.args)) hosts.add(host)
    if (key !== null) made.add(key)
    if (!call.isError) {
      costs.observe(call.tool, argumentNames(args), tokens)
      for (const each of offersOf(call, terms, { made, hosts })) {
        if (waiting.every(other => other.key !== each.key)) waiting.push(each)
      }
    }
  }
  for (const each of waiting) settle(each, null)
  return played
}

function offersOf(
  call: RecordedCall,
  { models, probabilities, costs, maxParallel, ...terms }: PlayTerms,
  { made, hosts }: { readonly made: ReadonlySet<string>; readonly hosts: ReadonlySet<string> },
): OpenOffer[] {
  const links = models.find(call.tool, SERVER).model.follow_up
  if (links.length === 0) return []
  const trigger = readTrigger(call.text)
  const offerings: Offering[] = links.map(link => ({
    trigger: call.tool,
    server: SERVER,
    link,
    calls: projectCalls(link, trigger, { triggerArgs: call.args }),
  }))
  const plan = planCalls(offerings, {
    models,
    probabilities,
    knownHosts: hosts,
    keywords: intentKeywords(undefined, call.args),
    budgetTokens: terms.budgetTokens,
    minProbability: terms.minProbability,
    isCostAware: false,
    findTool: asTool,
    isUp: () => true,
    isInContext: key => made.has(key),
    isCached: () => false,
    observedTokens: ({ name }, names) => costs.expected(name, names),
  })
  const fresh = { left: TURNS, isStale: false }
  const planned = plan.calls.flatMap(({ tool, key, offer, cost_tokens }, at): OpenOffer[] => {
    const declined = at < maxParallel ? null : 'parallel_limit'
    return key === null
      ? []
      : [{ key, tool: tool.name, offer, declined, predicted: cost_tokens, ...fresh }]
  })
  const declined = plan.declined.flatMap(({ tool, args, reason, offer }): OpenOffer[] => {
    if (args === null || offer === undefined || made.has(callKey(SERVER, tool, args))) return []
    const key = callKey(SERVER, tool, args)
    return [{ key, tool, offer, declined: reason, predicted: 0, ...fresh }]
  })
  return [...planned, ...declined]
}

/** Names of tools that read begin so. It replaces `readOnlyHint`, which is not recorded. */
const READING =
  /^(?:get|list|search|find|read|fetch|query|show|describe|lookup|view|grep|glob|ls|count)(?:$|[_A-Z-])/

/** Recorded tools are believed to be what they are called. */
function asTool(name: string): ListedTool {
  const readOnlyHint = READING.test(name)
  return {
    name,
    server: SERVER,
    isTrusted: true,
    annotations: { readOnlyHint, openWorldHint: false },
  }
}
