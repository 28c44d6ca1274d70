import { AUTO, DEFAULT_VARIANT } from '../../core/pipeline/profile/default-pipeline.ts'
import { matchModel } from '../../core/pipeline/profile/match-model.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import type { Stats } from './class-stats.ts'
import { type Proposal, propose } from './proposal.ts'

/** Percent of the results that one model's variant must have (SOURCES.md#formats, P1). */
const DOMINANT_PERCENT = 80
/** Means a conversation by which an agent is known (SOURCES.md#formats, P2). */
const SEARCH = { mostResults: 200, leastReads: 0.5 } as const
const MARATHON = { leastResults: 500, leastCompactions: 3 } as const
/** Conversations that P2 looks at, the last ones. */
const RECENT = 20
/** Before the tool in the name of one of an MCP server. */
const MCP = 'mcp__'
const SEPARATOR = '__'

/** What the axes of profiles could be set to: the model's, the agent's and the tools' variants. */
export function proposeProfiles(config: PipelineConfig, stats: Stats): readonly Proposal[] {
  const { profiles } = config
  return [...p1(profiles, stats), ...p2(profiles, stats), ...p3(profiles, stats)]
}

type Profiles = PipelineConfig['profiles']

const everyConversation = () => true

/** The variant of the model that most results are of, for requests that name none. */
function p1({ llm }: Profiles, { sessions }: Stats): readonly Proposal[] {
  if (llm.active !== AUTO || sessions.results === 0) return []
  const names = Object.keys(llm.variants).filter(name => name !== DEFAULT_VARIANT)
  const counts = new Map<string, number>()
  for (const [model, count] of sessions.models) {
    const variant = matchModel(names, model)
    if (variant !== undefined) counts.set(variant, (counts.get(variant) ?? 0) + count)
  }
  for (const [variant, count] of counts) {
    const percent = Math.floor((100 * count) / sessions.results)
    if (percent < DOMINANT_PERCENT) continue
    const evidence = `${percent} % of ${sessions.results} results are of models that it is for`
    return [
      propose('P1', ['profiles', 'llm', 'active'], variant, {
        evidence,
        touches: everyConversation,
      }),
    ]
  }
  return []
}

/**
 * The agent's variant, by means over the last conversations; the longest ones are looked for first.
 */
function p2({ agent }: Profiles, { sessions }: Stats): readonly Proposal[] {
  const last = sessions.recent.slice(-RECENT)
  const sum = (of: 'results' | 'reads' | 'compactions') =>
    last.reduce((all, each) => all + each[of], 0)
  const [results, reads, compactions] = [sum('results'), sum('reads'), sum('compactions')]
  if (results === 0) return []
  const means = {
    results: results / last.length,
    compactions: compactions / last.length,
    reads: reads / results,
  }
  const variant = agentVariantOf(means)
  // What was another agent's work may have ended.
  const isFound = variant !== DEFAULT_VARIANT || VARIANTS.has(agent.active)
  if (variant === agent.active || !isFound) return []
  const evidence =
    `${means.results.toFixed(0)} results and ${means.compactions.toFixed(1)} compactions a ` +
    `conversation, of the last ${last.length}; ${(100 * means.reads).toFixed(0)} % of the ` +
    'results are reads'
  return [
    propose('P2', ['profiles', 'agent', 'active'], variant, {
      evidence,
      touches: everyConversation,
    }),
  ]
}

/** Those that P2 finds. */
const VARIANTS: ReadonlySet<string> = new Set(['marathon_refactor', 'file_search_heavy'])

function agentVariantOf(means: Record<'results' | 'reads' | 'compactions', number>): string {
  const { results, reads, compactions } = means
  if (results >= MARATHON.leastResults && compactions >= MARATHON.leastCompactions) {
    return 'marathon_refactor'
  }
  const isSearch = results <= SEARCH.mostResults && reads >= SEARCH.leastReads
  return isSearch ? 'file_search_heavy' : DEFAULT_VARIANT
}

/**
 * A variant for each tool of an MCP server that none is for, named by the last part of its name;
 * the first tool of a name has it. It says nothing yet, so the guard finds no effect: a person may
 * fill it.
 */
function p3({ data }: Profiles, { classes }: Stats): readonly Proposal[] {
  const taken = new Set(Object.keys(data.variants))
  const patterns = Object.values(data.variants).map(({ endpoint_pattern }) => endpoint_pattern)
  const proposals: Proposal[] = []
  for (const { example, results } of classes.values()) {
    const { tool = '' } = example
    if (!tool.startsWith(MCP) || patterns.some(pattern => tool.startsWith(pattern))) continue
    const name = tool.slice(tool.lastIndexOf(SEPARATOR) + SEPARATOR.length)
    if (name === '' || taken.has(name)) continue
    taken.add(name)
    proposals.push(
      propose('P3', ['profiles', 'data', 'variants', name, 'endpoint_pattern'], tool, {
        evidence: `${results} results, and no variant for them`,
        touches: () => false,
      }),
    )
  }
  return proposals
}
