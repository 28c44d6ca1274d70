import { noTally } from '../../book/events/read-lines.ts'
import { readEvents } from '../../book/events/read-telemetry.ts'
import type { Config } from '../../config/config.ts'
import { minedModelsOf } from '../../config/mined-models.ts'
import { shippedModels } from '../../config/shipped-models.ts'
import { table } from '../../console/table.ts'
import type { ToolModels } from '../../core/enrich/value-model.ts'
import { anonymousName } from '../../core/telemetry/anonymous-name.ts'
import { type CallAhead, type PlanChange, proposeEnrichment } from '../proposals/auto-enrichment.ts'
import type { RecordedCall } from '../speculation/link-miner.ts'
import { studyPlans } from '../speculation/study-plans.ts'

/** Proposals of R7 by what telemetry recorded of calls ahead. @param folder of telemetry */
export async function analyzeTelemetry(folder: string, config: Config): Promise<PlanChange[]> {
  const names = namesOf(config)
  const fetches: CallAhead[] = []
  const offers: CallAhead[] = []
  for await (const batch of readEvents(folder, {}, noTally())) {
    for (const event of batch) {
      const { tool_name_anon: anonymous, enricher_fetch: end, tokens_baseline: tokens } = event
      const tool = names.get(anonymous) ?? anonymous
      if (end !== undefined) fetches.push({ tool, isUsed: end !== 'wasted', tokens })
      if (event.enricher_prefetched !== true) continue
      offers.push({ tool, isUsed: event.cited_in_next_n_turns === true, tokens })
    }
  }
  // Each fetch has an event, but offers of an agent that ended soon have none.
  const calls = fetches.length > 0 ? fetches : offers
  return proposeEnrichment({
    isEnabled: config.enrichment.enabled,
    replay: without => calls.filter(({ tool }) => !without.has(tool)),
  })
}

/** Proposals of R7 by playing recorded sessions with the planner. */
export function analyzeSessions(
  sessions: ReadonlyMap<string, readonly RecordedCall[]>,
  { enrichment, tools }: Config,
  countTokens: (text: string) => number,
): PlanChange[] {
  return proposeEnrichment({
    isEnabled: enrichment.enabled,
    replay(without) {
      const off = [...without].map(tool => [tool, { ...tools[tool], speculate: false }])
      const changed = { enrichment, tools: { ...tools, ...Object.fromEntries(off) } }
      const { offers } = studyPlans(sessions, changed, countTokens)
      return offers.flatMap(({ tool, declined, isUsed, predicted, actual }): CallAhead[] =>
        declined === null ? [{ tool, isUsed, tokens: actual ?? predicted }] : [],
      )
    },
  })
}

/**
 * Tools as the configuration names them, by the names that telemetry has: all that models name, at
 * every configured server.
 */
function namesOf(config: Config): ReadonlyMap<string, string> {
  const everywhere = shippedModels().filter(({ servers }) => servers === undefined)
  const layers: ToolModels[] = [
    ...everywhere.map(({ models }) => models),
    minedModelsOf(config),
    config.tools,
  ]
  const tools = layers.flatMap(layer =>
    Object.entries(layer).flatMap(([tool, { follow_up = [] }]) => [
      tool,
      ...follow_up.map(link => link.tool),
    ]),
  )
  const names = new Map<string, string>()
  for (const server of Object.keys(config.mcp.servers)) {
    for (const tool of tools) {
      const own = tool.startsWith(`${server}__`) ? tool.slice(server.length + 2) : tool
      names.set(anonymousName(`mcp__${server}__${own}`), `${server}__${own}`)
    }
  }
  return names
}

/** A table for a reader, and the lines of the configuration. */
export function reportProposals(proposals: readonly PlanChange[]): string {
  if (proposals.length === 0) return 'Nothing is proposed.\n'
  const rows = proposals.map(({ rule, key, to, before, after }) => [
    ...[rule, key.join('.'), String(to)],
    ...[`${before.used} of ${before.prefetches}`, `${after.used} of ${after.prefetches}`],
    ...[before.unused_tokens, after.unused_tokens],
  ])
  const head = ['rule', 'key', 'to', 'used before', 'after', 'unused tokens before', 'after']
  const lines = proposals.map(({ key, to }) => {
    const [section, ...rest] = [key.slice(0, -1), key.at(-1)]
    return `[${(section as string[]).map(quoted).join('.')}]\n${rest[0]} = ${to}`
  })
  return `${[table(head, rows), ...lines].join('\n\n')}\n`
}

/** A part of a key in TOML. */
function quoted(part: string): string {
  return /^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part)
}
