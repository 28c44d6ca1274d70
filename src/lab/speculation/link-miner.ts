import { canonicalArguments } from '../../core/enrich/call-key.ts'
import { placeShare } from '../../core/enrich/probability.ts'
import { projectCalls } from '../../core/enrich/projections.ts'
import { readTrigger, type TriggerResult } from '../../core/enrich/result-values.ts'
import type { FollowUp, ToolModels } from '../../core/enrich/value-model.ts'
import { NumberLiteral, ObjectValue, type Value } from '../../core/json/value.ts'

/** One recorded call, in the order of its session. */
export interface RecordedCall {
  readonly tool: string
  readonly args: Value
  readonly text: string
  readonly isError: boolean
}

interface LinkCounts {
  readonly link: Pick<FollowUp, 'tool' | 'projection' | 'projection_arg'>
  readonly trigger: string
  /** Calls that were offered, and the share that is expected of each for one of a list of one. */
  offered: number
  weight: number
  used: number
}

/** A call follows from a result if it comes within so many calls (SOURCES.md#planner). */
const TURNS = 3
/** Fewer offers say nothing. */
const LEAST_OFFERS = 5
const LEAST_SHARE = 0.02
const MAX_DEPTH = 24
const MAX_VISITED = 20_000
const MAX_KEYS = 8
const MAX_LINKS = 10_000

/**
 * Learns from recorded sessions which calls follow from which results: the links that were followed
 * often enough, by the tool whose result offers them.
 */
export function mineLinks(sessions: readonly (readonly RecordedCall[])[]): ToolModels {
  const links = new Map<string, LinkCounts>()
  for (const session of sessions) {
    for (const { trigger, ...link } of followUps(session)) {
      const key = JSON.stringify([trigger, link])
      if (!links.has(key) && links.size < MAX_LINKS) {
        links.set(key, { link, trigger, offered: 0, weight: 0, used: 0 })
      }
    }
  }
  for (const session of sessions) countOffers(session, [...links.values()])
  return toModels([...links.values()])
}

/** The links that would have led from a result to one of the calls after it. */
function* followUps(session: readonly RecordedCall[]) {
  for (const [at, { tool, text, isError }] of session.entries()) {
    if (isError) continue
    const next = session.slice(at + 1, at + 1 + TURNS).filter(call => call.tool !== tool)
    if (next.length === 0) continue
    const trigger = readTrigger(text)
    for (const call of next) {
      if (!(call.args instanceof ObjectValue)) continue
      for (const [i, argument] of call.args.keys.entries()) {
        for (const projection of projectionsOf(trigger, call.args.values[i] as Value)) {
          yield { trigger: tool, tool: call.tool, projection, projection_arg: argument }
        }
      }
    }
  }
}

/** The keys under which a result has a value; `path` and `url` for texts. */
function projectionsOf({ text, json }: TriggerResult, value: Value): readonly string[] {
  const wanted = scalarOf(value)
  if (wanted === undefined || wanted.length < 2 || !text.includes(wanted)) return []
  if (!(json instanceof ObjectValue) && !Array.isArray(json)) return ['path', 'url']
  const keys = new Set<string>()
  const waiting: { readonly value: Value; readonly key: string; readonly depth: number }[] = [
    { value: json, key: 'path', depth: 0 },
  ]
  let visited = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (++visited > MAX_VISITED || keys.size === MAX_KEYS) break
    const { value: inner, key, depth } = next
    if (scalarOf(inner) === wanted) keys.add(key)
    if (depth === MAX_DEPTH) continue
    if (inner instanceof ObjectValue) {
      for (const [i, name] of inner.keys.entries()) {
        waiting.push({ value: inner.values[i] as Value, key: name, depth: depth + 1 })
      }
    } else if (Array.isArray(inner)) {
      for (const item of inner) waiting.push({ value: item, key, depth: depth + 1 })
    }
  }
  return [...keys]
}

function scalarOf(value: Value): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  return value instanceof NumberLiteral ? value.text : undefined
}

function countOffers(session: readonly RecordedCall[], links: readonly LinkCounts[]): void {
  const args = session.map(call => canonicalArguments(call.args))
  for (const [at, { tool, text, isError }] of session.entries()) {
    const own = isError ? [] : links.filter(({ trigger }) => trigger === tool)
    if (own.length === 0) continue
    const trigger = readTrigger(text)
    for (const counts of own) {
      const link = { ...counts.link, probability: 0 }
      for (const offered of projectCalls(link, trigger, {})) {
        counts.offered++
        counts.weight += placeShare(offered)
        for (let next = at + 1; next <= at + TURNS; next++) {
          if (session[next]?.tool !== link.tool || args[next] !== offered.args) continue
          counts.used++
          break
        }
      }
    }
  }
}

/** Keeps only the link that was followed most, if several lead to one argument of one tool. */
function toModels(all: readonly LinkCounts[]): ToolModels {
  const models: Record<string, { follow_up: FollowUp[] }> = {}
  const seen = new Set<string>()
  for (const { trigger, link, offered, weight, used } of all.toSorted((a, b) => b.used - a.used)) {
    const place = JSON.stringify([trigger, link.tool, link.projection_arg])
    if (offered < LEAST_OFFERS || used / offered < LEAST_SHARE || seen.has(place)) continue
    seen.add(place)
    models[trigger] ??= { follow_up: [] }
    const probability = Math.min(1, Number((used / weight).toFixed(3)))
    models[trigger].follow_up.push({ ...link, probability })
  }
  return models
}
