/** What a change would do, by the calls ahead that were recorded or played. */
interface PlanEffect {
  readonly prefetches: number
  readonly used: number
  /** Tokens of results that the model did not ask for. */
  readonly unused_tokens: number
}

/** A change of calls ahead that rule R7 proposes. Applying it is the reader's decision. */
export interface PlanChange {
  readonly rule: 'R7'
  /** The path of a key, a part each. */
  readonly key: readonly string[]
  readonly to: boolean
  /** The figures that the rule decided by. */
  readonly evidence: Readonly<Record<string, number>>
  readonly before: PlanEffect
  readonly after: PlanEffect
}

/** A call that was made ahead. */
export interface CallAhead {
  /** As the configuration names it. */
  readonly tool: string
  readonly isUsed: boolean
  /** Tokens of its result; 0 if it is not known. */
  readonly tokens: number
}

export interface AutoEnrichmentTerms {
  readonly isEnabled: boolean
  /** The calls ahead that there would have been without these tools. */
  replay(withoutTools: ReadonlySet<string>): readonly CallAhead[]
}

/** Fewer calls ahead of a tool say nothing of it (SOURCES.md#planner, R7). */
const LEAST_PREFETCHES = 10
/** Fewer calls ahead in all are no reason to switch them on. */
const LEAST_TO_SWITCH_ON = 20
/** Below this share of used calls a tool is switched off. */
const LEAST_HITS = 0.5
/** From this share on, of all tools, calls ahead are switched on. */
const GOOD_HITS = 0.6

/**
 * Rule R7 (SOURCES.md#planner): no calls ahead of a tool of whose 10 or more less than half were
 * used. Calls ahead on if there were 20 or more, at least 60 % of all were used and no tool is
 * switched off. Each change has what the replay gives before it and with it.
 */
export function proposeEnrichment({ isEnabled, replay }: AutoEnrichmentTerms): PlanChange[] {
  const all = replay(new Set())
  const before = effectOf(all)
  const proposals: PlanChange[] = []
  for (const tool of [...new Set(all.map(call => call.tool))].sort()) {
    const own = effectOf(all.filter(call => call.tool === tool))
    if (own.prefetches < LEAST_PREFETCHES || own.used >= LEAST_HITS * own.prefetches) continue
    proposals.push({
      rule: 'R7',
      key: ['tools', tool, 'speculate'],
      to: false,
      before,
      evidence: { prefetches: own.prefetches, used: own.used },
      after: effectOf(replay(new Set([tool]))),
    })
  }
  const isGood =
    before.prefetches >= LEAST_TO_SWITCH_ON && before.used >= GOOD_HITS * before.prefetches
  if (proposals.length > 0 || isEnabled || !isGood) return proposals
  return [
    {
      rule: 'R7',
      key: ['enrichment', 'enabled'],
      to: true,
      after: before,
      evidence: { prefetches: before.prefetches, used: before.used },
      before: effectOf([]),
    },
  ]
}

function effectOf(calls: readonly CallAhead[]): PlanEffect {
  const used = calls.filter(({ isUsed }) => isUsed)
  const unused = calls.filter(({ isUsed }) => !isUsed)
  return {
    prefetches: calls.length,
    used: used.length,
    unused_tokens: unused.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}
