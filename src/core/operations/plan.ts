import { AppError } from '../base/errors.ts'
import { type PlanAnswer, type PlanRequest, planAnswer, planRequest } from '../contract/plan.ts'
import { callKey, canonicalArguments } from '../enrich/call-key.ts'
import type { ListedTool } from '../enrich/eligibility.ts'
import { intentKeywords } from '../enrich/intent.ts'
import { createModels, type Models } from '../enrich/models.ts'
import { type Offering, type PlanningTerms, UNCONFIGURED_PLANNING } from '../enrich/plan.ts'
import { planCalls } from '../enrich/planner.ts'
import { Probabilities } from '../enrich/probability.ts'
import { projectCalls } from '../enrich/projections.ts'
import { readTrigger } from '../enrich/result-values.ts'
import { bareName, serverOf } from '../enrich/tool-names.ts'
import { hostsOf } from '../enrich/url-arguments.ts'
import { parseJson } from '../json/parse-json.ts'
import type { Value } from '../json/value.ts'
import type { Operation } from './operation.ts'

/** A call of the request: its name taken apart, and its arguments as a value. */
interface Recent {
  /** The prefix of the tool's own name: `mcp__github__`. */
  readonly prefix: string
  readonly tool: string
  readonly server: string
  readonly args: Value | undefined
  readonly result: string | undefined
}

/** The server of the tools that the host has itself. */
const HOST = ''

/** `POST /v1/plan`, for hosts that make the calls themselves. Fails with `invalid_request`. */
export const planOperation: Operation<PlanRequest, PlanAnswer> = {
  name: 'plan',
  keepsSpelling: true,
  request: planRequest,
  answer: planAnswer,
  run(request, { terms }) {
    return { answer: answerOf(request, terms?.planning ?? UNCONFIGURED_PLANNING), reports: [] }
  },
}

function answerOf(request: PlanRequest, { layers, ...planning }: PlanningTerms): PlanAnswer {
  const models = createModels(layers)
  const recent = request.recent.map(readRecent)
  const made = new Set(recent.flatMap(keysOf))
  const plan = planCalls(
    recent.flatMap(call => offeringsOf(call, models)),
    {
      ...planning,
      models,
      probabilities: new Probabilities(() => 0),
      knownHosts: new Set(recent.flatMap(({ args }) => (args === undefined ? [] : hostsOf(args)))),
      keywords: intentKeywords(request.intent, recent.at(-1)?.args),
      budgetTokens: request.budget_tokens ?? planning.budgetTokens,
      findTool: (name, server) => toolOf(name, server, models),
      isUp: () => true,
      isInContext: key => made.has(key),
      isCached: () => false,
      observedTokens: () => undefined,
    },
  )
  const prefixes = new Map(recent.map(({ server, prefix }) => [server, prefix]))
  const named = (tool: string, server: string) => `${prefixes.get(server) ?? ''}${tool}`
  return {
    calls: plan.calls.map(({ tool, args, requires, link, ...call }) => ({
      tool: named(tool.name, tool.server),
      args,
      requires,
      ...(args === null ? definedOf(link) : {}),
      probability: call.probability,
      include: call.include === null ? null : [...call.include],
      cost_tokens: call.cost_tokens,
      value: call.value,
    })),
    declined: plan.declined.map(({ tool, server, args, reason }) => {
      return { tool: named(tool, server), args, reason }
    }),
    value: plan.value,
    bound: plan.bound,
  }
}

function readRecent({ tool, args, result }: PlanRequest['recent'][number]): Recent {
  const own = bareName(tool)
  return {
    prefix: tool.slice(0, tool.length - own.length),
    tool: own,
    server: serverOf(tool) ?? HOST,
    args: args === undefined ? undefined : readArguments(args),
    result,
  }
}

/** Arguments as a value that keeps the spelling of numbers. */
function readArguments(args: Record<string, unknown>): Value {
  try {
    const parsed = parseJson(JSON.stringify(args))
    if (parsed.ok) return parsed.value
  } catch {
    // MessagePack has values that JSON does not have.
  }
  throw new AppError('invalid_request', 'recent: arguments must be values of JSON')
}

function keysOf({ server, tool, args }: Recent): readonly string[] {
  const canonical = args === undefined ? null : canonicalArguments(args)
  return canonical === null ? [] : [callKey(server, tool, canonical)]
}

function offeringsOf({ tool, server, args, result }: Recent, models: Models): Offering[] {
  if (result === undefined) return []
  const links = models.find(tool, server === HOST ? undefined : server).model.follow_up
  const trigger = links.length === 0 ? null : readTrigger(result)
  return links.map(link => ({
    trigger: tool,
    server,
    link,
    calls:
      trigger === null || link.requires !== undefined
        ? []
        : projectCalls(link, trigger, { triggerArgs: args }),
  }))
}

/**
 * Only the names of a host's tools are known. The host's own tools are trusted to be what their
 * names say, since the host calls them itself. Tools of servers could have any name.
 */
function toolOf(name: string, server: string, models: Models): ListedTool {
  const isHost = server === HOST
  const isPure = isHost && models.find(name, server).shippedClass === 'pure'
  return { name, server, isTrusted: isHost, annotations: isPure ? { openWorldHint: false } : {} }
}

function definedOf({ projection, projection_arg }: Offering['link']) {
  return {
    ...(projection === undefined ? {} : { projection }),
    ...(projection_arg === undefined ? {} : { projection_arg }),
  }
}
