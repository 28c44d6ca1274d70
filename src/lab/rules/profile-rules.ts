import { AUTO, DEFAULT_VARIANT } from '../../core/pipeline/profile/default-pipeline.ts'
import { matchModel } from '../../core/pipeline/profile/match-model.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import type { Stats } from './class-stats.ts'
import type { ProposedChange, Rules } from './proposal.ts'

/** Percent of the results that one model's variant must have (SOURCES.md#formats, P1). */
const DOMINANT_PERCENT = 80
/** Means a conversation by which an agent is known (SOURCES.md#formats, P2). */
const SEARCH = { mostResults: 200, leastReads: 0.5 } as const
const MARATHON = { leastResults: 500, leastCompactions: 3 } as const
/** The variants that P2 finds. */
const VARIANTS: readonly string[] = ['marathon_refactor', 'file_search_heavy']
/** Conversations that P2 looks at, the last ones. */
const RECENT = 20
/** Before the tool in the name of one of an MCP server. */
const MCP = 'mcp__'
const SEPARATOR = '__'

const everyConversation = () => true

/** What the axes of profiles could be set to: the model's, the agent's and the tools' variants. */
export const PROFILE_RULES: Rules<[Stats, PipelineConfig['profiles']], ProposedChange> = {
  /** The variant of the model that most results are of, for requests that name none. */
  P1({ sessions }, { llm }) {
    if (llm.active !== AUTO) return []
    const names = Object.keys(llm.variants).filter(name => name !== DEFAULT_VARIANT)
    const counts = new Map<string, number>()
    for (const [model, count] of sessions.models) {
      const variant = matchModel(names, model)
      if (variant !== undefined) counts.set(variant, (counts.get(variant) ?? 0) + count)
    }
    const key = ['profiles', 'llm', 'active']
    return [...counts].flatMap(([to, count]) => {
      const percent = Math.floor((100 * count) / sessions.results)
      if (percent < DOMINANT_PERCENT) return []
      const evidence = `${percent} % of ${sessions.results} results are of models that it is for`
      return [{ key, to, evidence, touches: everyConversation }]
    })
  },

  /** The agent's variant, by means over the last conversations. */
  P2({ sessions }, { agent }) {
    const last = sessions.recent.slice(-RECENT)
    const [results, reads, compactions] = (['results', 'reads', 'compactions'] as const).map(of =>
      last.reduce((sum, each) => sum + each[of], 0),
    ) as [number, number, number]
    if (results === 0) return []
    const means = {
      results: results / last.length,
      compactions: compactions / last.length,
      reads: reads / results,
    }
    const to = agentVariantOf(means)
    // What was another agent's work may have ended.
    const isFound = to !== DEFAULT_VARIANT || VARIANTS.includes(agent.active)
    if (to === agent.active || !isFound) return []
    const evidence =
      `${means.results.toFixed(0)} results and ${means.compactions.toFixed(1)} compactions a ` +
      `conversation, of the last ${last.length}; ${(100 * means.reads).toFixed(0)} % of the ` +
      'results are reads'
    return [{ key: ['profiles', 'agent', 'active'], to, evidence, touches: everyConversation }]
  },

  /**
   * A variant for each tool of an MCP server that none is for, named by the last part of its name;
   * the first tool of a name has it. It says nothing yet, so the guard finds no effect: a person
   * may fill it.
   */
  P3({ classes }, { data }) {
    const taken = new Set(Object.keys(data.variants))
    const patterns = Object.values(data.variants).map(({ endpoint_pattern }) => endpoint_pattern)
    return [...classes.values()].flatMap(({ example: { tool = '' }, results }) => {
      if (!tool.startsWith(MCP) || patterns.some(pattern => tool.startsWith(pattern))) return []
      const name = tool.slice(tool.lastIndexOf(SEPARATOR) + SEPARATOR.length)
      if (name === '' || taken.has(name)) return []
      taken.add(name)
      const key = ['profiles', 'data', 'variants', name, 'endpoint_pattern']
      const evidence = `${results} results, and no variant for them`
      return [{ key, to: tool, evidence, touches: () => false }]
    })
  },
}

/** The longest conversations are looked for first. */
function agentVariantOf(means: Record<'results' | 'reads' | 'compactions', number>): string {
  const { results, reads, compactions } = means
  if (results >= MARATHON.leastResults && compactions >= MARATHON.leastCompactions) {
    return 'marathon_refactor'
  }
  const isSearch = results <= SEARCH.mostResults && reads >= SEARCH.leastReads
  return isSearch ? 'file_search_heavy' : DEFAULT_VARIANT
}
