/** How an item of the design document of the planner (SOURCES.md#planner) is tested. */
interface PlannerItem {
  /** Each cites the document. */
  readonly tests: readonly string[]
  /** Why there is no test of its own, or why the item is left out. */
  readonly reason?: string
}

export const PLANNER_ITEMS: Readonly<Record<string, PlannerItem>> = {
  'value models, four layers merged': { tests: ['test/unit/core/enrich/models.test.ts'] },
  'built-in and provider models': { tests: ['test/unit/core/enrich/models.test.ts'] },
  'value classes, costs, boost by intent, cost awareness': {
    tests: ['test/unit/core/enrich/planner.test.ts'],
  },
  'field groups': { tests: ['test/unit/core/operations/pack-result.test.ts'] },
  'follow-ups and projections': { tests: ['test/unit/core/enrich/projections.test.ts'] },
  'knapsack with its bound, prerequisites': {
    tests: ['test/property/core/enrich/choose-calls.test.ts'],
  },
  'what may be called ahead, speculate': { tests: ['test/property/mcp/calls-ahead.test.ts'] },
  'race, shutdown, hosts, invalidation': {
    tests: ['test/unit/ahead/speculation.test.ts', 'test/unit/mcp/ahead/enriched-calls.test.ts'],
  },
  'fail-fast (pattern 8), polling (pattern 1)': {
    tests: ['test/unit/mcp/ahead/enriched-calls.test.ts'],
  },
  're-reads (pattern 2)': {
    tests: [],
    reason: 'references of sessions, which have tests of their own',
  },
  'search, then read (patterns 3, 4, 5)': { tests: ['test/unit/core/enrich/projections.test.ts'] },
  'noise of task tools (pattern 6)': { tests: ['test/unit/core/enrich/planner.test.ts'] },
  'phases of an agent by its to-do lists (pattern 7)': {
    tests: [],
    reason: 'the predecessor never built it, and nothing says what to do with a phase',
  },
  'markup of browsers (pattern 9)': { tests: ['test/unit/core/operations/pack-result.test.ts'] },
  effectiveness: {
    tests: [
      'test/unit/core/telemetry/effectiveness.test.ts',
      'test/unit/cli/replay-enrichment.test.ts',
    ],
  },
  'mined models, tune mine --tools': {
    tests: ['test/unit/lab/mine-models.test.ts', 'test/unit/cli/tune-models.test.ts'],
  },
  'cost estimates from what was observed': {
    tests: ['test/unit/core/enrich/observed-costs.test.ts'],
  },
  'enricher_… fields of events, summary.enrichment': {
    tests: ['test/unit/service/offer-events.test.ts', 'test/unit/core/telemetry/offers.test.ts'],
  },
  'tune cite': {
    tests: ['test/unit/service/offer-events.test.ts'],
    reason: 'the gateway knows which calls were made, and writes cited_in_next_n_turns itself',
  },
  R7: { tests: ['test/unit/lab/auto-enrichment.test.ts', 'test/unit/cli/tune-models.test.ts'] },
  "pagination of a provider's result": {
    tests: ['test/unit/core/operations/result-pagination.test.ts'],
  },
  replay: {
    tests: ['test/unit/cli/replay-enrichment.test.ts', 'test/unit/lab/speculation.test.ts'],
  },
}
