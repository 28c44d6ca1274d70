import { serverOf } from '../../core/enrich/tool-names.ts'
import type { ToolModel, ToolModels } from '../../core/enrich/value-model.ts'
import { mineLinks, type RecordedCall } from './link-miner.ts'

/** A recorded call, with how long it took if its log tells. */
export interface TimedCall extends RecordedCall {
  readonly tookMs?: number | undefined
}

type Link = NonNullable<ToolModel['follow_up']>[number]

/** Fewer results say nothing of a tool. */
const LEAST_RESULTS = 20
/** As in `ObservedCosts`: what most results stay within. */
const SIZE_SHARE = 0.8
const MEDIAN = 0.5
const SEPARATOR = '__'
const MARK = 'mcp'

/**
 * Learns value models from recorded sessions: what results take, how long calls last, and which
 * calls follow. It never says what a call changes: no recording shows that a call changes nothing.
 */
export function mineModels(recorded: Iterable<readonly TimedCall[]>): ToolModels {
  const sessions = [...recorded].map(calls =>
    calls.map(call => ({ ...call, tool: configuredName(call.tool) })),
  )
  const followUps = mineLinks(sessions)
  const byTool = Map.groupBy(
    sessions.flat().filter(({ isError }) => !isError),
    ({ tool }) => tool,
  )
  const models: Record<string, ToolModel> = {}
  for (const [tool, calls] of [...byTool].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const sizes = calls.map(({ text }) => Buffer.byteLength(text))
    const times = calls.flatMap(({ tookMs = 0 }) => (tookMs > 0 ? [tookMs] : []))
    const [bytes, ms] = [shareOf(sizes, SIZE_SHARE), shareOf(times, MEDIAN)]
    const cost = {
      ...(bytes === undefined ? {} : { typical_kb: Number((bytes / 1_024).toPrecision(2)) }),
      ...(ms === undefined ? {} : { latency_ms_p50: Math.round(ms) }),
    }
    const follow_up = followUps[tool]?.follow_up?.map(link => ownName(link, tool))
    const model: ToolModel = {
      ...(Object.keys(cost).length === 0 ? {} : { cost_model: cost }),
      ...(follow_up === undefined ? {} : { follow_up }),
    }
    if (Object.keys(model).length > 0) models[tool] = model
  }
  return models
}

/**
 * A tool as the configuration names it, `server__tool`: clients put `mcp__` in front of a server's
 * tools, and the name of a gateway.
 */
function configuredName(tool: string): string {
  const parts = tool.split(SEPARATOR)
  return parts[0] === MARK && parts.length > 2 ? parts.slice(-2).join(SEPARATOR) : tool
}

/** A link to a tool of the same server names it as the server does. */
function ownName(link: Link, trigger: string): Link {
  const server = serverOf(trigger)
  const isOwn = server !== undefined && serverOf(link.tool) === server
  return isOwn ? { ...link, tool: link.tool.slice(server.length + SEPARATOR.length) } : link
}

function shareOf(values: readonly number[], share: number): number | undefined {
  if (values.length < LEAST_RESULTS) return undefined
  return values.toSorted((a, b) => a - b)[Math.floor(share * values.length)]
}
