/**
 * The planner of calls ahead: `npm run bench -- planner [--rounds N] [--json]`. Plans of random
 * offers by number of candidates, with groups of fields and calls that require others. Up to 256
 * candidates are chosen exactly, more by density. Goal: 1,000 candidates within 2 ms.
 */

import { createModels } from '../src/core/enrich/models.ts'
import type { CatalogueTool, Offering, PlanContext } from '../src/core/enrich/plan.ts'
import { planCalls } from '../src/core/enrich/planner.ts'
import type { ToolModel } from '../src/core/enrich/value-model.ts'
import { machine } from './support/machine.ts'
import { tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { createRandom } from './support/random.ts'
import { median, percentile } from './support/statistics.ts'

const options = readOptions({ rounds: 300, json: false })

const SIZES = [10, 100, 256, 257, 1_000]
const TOOLS = 40
/** Offers of a tool that another of its calls must come before. */
const REQUIRING = 8

interface Row {
  readonly candidates: number
  readonly median_ms: number
  readonly p99_ms: number
  readonly processor_ms: number
  readonly planned: number
  readonly value_of_bound: string
}

const report = { machine: machine(), rows: SIZES.map(measure) }

if (options.json) console.log(JSON.stringify(report))
else {
  console.log(report.machine)
  console.log(`\n${tableOf(report.rows)}`)
}

function measure(candidates: number): Row {
  const context = makeContext()
  const instances = Array.from({ length: 20 }, (_, seed) => makeOfferings(candidates, seed))
  for (const instance of instances) planCalls(instance, context)
  const times: number[] = []
  const cpuBefore = process.cpuUsage()
  for (let round = 0; round < options.rounds; round++) {
    const start = performance.now()
    planCalls(instances[round % instances.length] as readonly Offering[], context)
    times.push(performance.now() - start)
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  const plans = instances.map(instance => planCalls(instance, context))
  return {
    candidates,
    median_ms: median(times),
    p99_ms: percentile(times, 0.99),
    processor_ms: (user + system) / 1_000 / options.rounds,
    planned: median(plans.map(({ calls }) => calls.length)),
    value_of_bound: `${(100 * Math.min(...plans.map(({ value, bound }) => value / bound))).toFixed(2)} %`,
  }
}

/** Numbers from 0 up to 1. */
function shares(seed: number): () => number {
  const random = createRandom(seed)
  return () => random(1_000_000) / 1_000_000
}

function makeContext(): PlanContext {
  const random = shares(7)
  const user: Record<string, ToolModel> = {}
  for (let i = 0; i < TOOLS; i++) {
    user[`tool_${i}`] = {
      side_effect_class: 'read_only',
      value_class: i % 3 === 0 ? 'supporting' : 'critical',
      cost_model: { typical_kb: 0.2 + 8 * random() },
      ...(i % 2 === 0 ? {} : { field_groups: makeGroups(random) }),
    }
  }
  const tools = new Map<string, CatalogueTool>(
    Object.keys(user).map(name => [name, { name, server: 's', isTrusted: true }]),
  )
  return {
    models: createModels({ user }),
    probabilities: { of: ({ prior, listed }) => prior * listed ** -0.8 },
    knownHosts: new Set(),
    keywords: ['body'],
    budgetTokens: 8_000,
    minProbability: 0.01,
    findTool: name => tools.get(name),
    isUp: () => true,
    isInContext: () => false,
    isCached: () => false,
    observedTokens: () => undefined,
  }
}

function makeGroups(random: () => number): NonNullable<ToolModel['field_groups']> {
  return {
    must_have: { fields: ['id', 'title'], estimated_value: 1 },
    nice_to_have: { fields: ['body'], estimated_value: random() },
    debug: { fields: ['trace', 'raw'], estimated_value: random() / 4, default_include: false },
  }
}

/** Offerings with as many candidates as asked for, those that require others included. */
function makeOfferings(candidates: number, seed: number): Offering[] {
  const random = shares(seed)
  const offerings: Offering[] = []
  const pick = () => `tool_${Math.floor(random() * TOOLS)}`
  const requiring = candidates > REQUIRING * 10 ? REQUIRING : 0
  let left = candidates - requiring
  for (let i = 0; left > 0; i++) {
    const listed = Math.min(left, 1 + Math.floor(random() * 3))
    const calls = Array.from({ length: listed }, (_, at) => ({
      args: JSON.stringify({ id: 1_000 * i + at }),
      hosts: [],
      rank: at + 1,
      listed,
    }))
    const link = { tool: pick(), probability: 0.3 + 0.7 * random() }
    offerings.push({ trigger: i < requiring ? `trigger_${i}` : 'list', server: 's', link, calls })
    left -= listed
  }
  for (let i = 0; i < requiring; i++) {
    const { trigger, link } = offerings[i] as Offering
    const dependent = { tool: pick(), probability: 0.8, requires: link.tool }
    offerings.push({ trigger, server: 's', link: dependent, calls: [] })
  }
  return offerings
}
