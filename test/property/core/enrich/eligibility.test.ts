import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Speculation } from '../../../../src/ahead/speculation.ts'
import type { ListedTool } from '../../../../src/core/enrich/eligibility.ts'
import type { Offering, PlannedCall } from '../../../../src/core/enrich/plan.ts'
import { planCalls } from '../../../../src/core/enrich/planner.ts'
import { Probabilities } from '../../../../src/core/enrich/probability.ts'
import type { SideEffect, ToolModel } from '../../../../src/core/enrich/value-model.ts'
import { modelsWith } from '../../../support/models.ts'
import { OFFER } from '../../../support/offer.ts'
import { leastHits } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'

const RUNS = fewRuns(100_000, 300)

const EFFECTS = ['pure', 'read_only', 'mutates_local', 'mutates_external', 'indeterminate'] as const
const READING: readonly (SideEffect | undefined)[] = ['pure', 'read_only']

/** Names with built-in models of all kinds, names without any, and names that deceive. */
const NAMES = [
  ...['Read', 'WebFetch', 'Edit', 'Bash', 'TodoWrite', 'list_issues', 'issue_write'],
  ...['x', 'y', 'use_context', 'a__Read', '__proto__', 'haversack_retrieve'],
] as const
const SERVERS = ['github', 's'] as const

/** What is built in of these: the class by server, where it is not the same for all. */
function shippedClass(name: string, server: string): SideEffect | undefined {
  if (name === 'Read' || name === 'a__Read') return 'pure'
  if (name === 'WebFetch') return 'read_only'
  if (name === 'Edit') return 'mutates_local'
  if (server === 'github' && name === 'list_issues') return 'read_only'
  if (server === 'github' && name === 'issue_write') return 'mutates_external'
  return undefined
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const flag = maybe(fc.boolean())

const stated: fc.Arbitrary<ToolModel> = fc
  .record({ side_effect_class: maybe(fc.constantFrom(...EFFECTS)), speculate: flag })
  .map(withoutUndefined)

const catalogueTool: fc.Arbitrary<ListedTool> = fc.record({
  name: fc.constantFrom(...NAMES),
  server: fc.constantFrom(...SERVERS),
  isTrusted: fc.boolean(),
  isInteractive: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.boolean()),
  annotations: fc.record({
    readOnlyHint: flag,
    destructiveHint: fc.constantFrom(undefined, undefined, false, true),
    openWorldHint: flag,
  }),
})

const layer = fc
  .array(fc.tuple(fc.constantFrom('own', 'bare', '*'), stated), { maxLength: 3 })
  .map(entries => Object.fromEntries(entries))

function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, each]) => each !== undefined)) as T
}

/** A layer for the tool, by the exact name, the name without prefix, or for all. */
function modelsFor({ name, server }: ListedTool, entries: Record<string, ToolModel>) {
  const names = { own: `mcp__${server}__${name}`, bare: name.replace('a__', ''), '*': '*' }
  return Object.fromEntries(
    Object.entries(entries).map(([kind, model]) => [names[kind as keyof typeof names], model]),
  )
}

/** What a layer states of the tool: the exact name wins over the bare one. */
const own = (entries: Record<string, ToolModel>): ToolModel | undefined =>
  entries['own'] === undefined && entries['bare'] === undefined
    ? undefined
    : { ...entries['bare'], ...entries['own'] }

/** The contract's paragraph "Eligible", said again without the code. */
function mayBePlanned(
  tool: ListedTool,
  user: Record<string, ToolModel>,
  mined: Record<string, ToolModel>,
): boolean {
  const { isTrusted, isInteractive, annotations = {}, name, server } = tool
  const shipped = shippedClass(name, server)
  const hasModel =
    shipped !== undefined ||
    ['Bash', 'TodoWrite'].includes(name) ||
    own(user) !== undefined ||
    own(mined) !== undefined
  const said = hasModel ? (own(user) ?? {}) : (user['*'] ?? {})
  const forbids = said.speculate ?? user['*']?.speculate
  if (forbids === false || isInteractive === true) return false
  if (/context|haversack_/.test(name) || name === 'TodoWrite') return false
  if (annotations.destructiveHint === true) return false
  const byUser = said.side_effect_class
  const byServer =
    isTrusted &&
    (shipped === undefined ? annotations.readOnlyHint === true : READING.includes(shipped))
  if (!(byUser === undefined ? byServer : READING.includes(byUser))) return false
  const listed = own(user)?.side_effect_class !== undefined || own(user)?.speculate === true
  return (isTrusted && annotations.openWorldHint === false) || listed
}

const everything = fc.record({
  tool: catalogueTool,
  user: layer,
  mined: layer,
  known: fc.boolean(),
  address: fc.boolean(),
})

/** The names of the tools that an upstream is asked for if a plan is carried out. */
async function carryOut(calls: readonly PlannedCall[]): Promise<readonly string[]> {
  const asked: string[] = []
  const limits = { maxParallel: 3, respectsRateLimits: true }
  const engine = new Speculation<string>({ ...limits, now: () => 0, onEvent: () => {} })
  const scope = { tenant: 't', upstream: 'u', client: 'k' }
  const { ended } = engine.prefetch(
    calls.map(({ tool: { name }, args }) => ({
      ...{ call: { scope, tool: name, args: args ?? '{}' }, context: 'x', host: null },
      facts: { offer: OFFER, key: name, server: 'u', tool: name, session: null, predicted: 1 },
      async fetch() {
        asked.push(name)
        return { result: 'x', bytes: 0 }
      },
    })),
  )
  await ended
  return asked
}

it('calls nothing that is not eligible, whatever servers, users and tuning say', async () => {
  let planned = 0
  await fc.assert(
    fc.asyncProperty(everything, async ({ tool, user, mined, known, address }) => {
      const id = address ? 'https://a.b/c' : 'c'
      const offering: Offering = {
        ...{ trigger: 'trigger', server: tool.server },
        link: { tool: tool.name, probability: 1 },
        calls: [
          { args: JSON.stringify({ id }), hosts: address ? ['a.b'] : [], rank: 1, listed: 1 },
        ],
      }
      const { calls, declined } = planCalls([offering], {
        models: modelsWith({ user: modelsFor(tool, user), mined: modelsFor(tool, mined) }),
        probabilities: new Probabilities(() => 0),
        knownHosts: new Set(known ? ['a.b'] : []),
        keywords: [],
        budgetTokens: 100_000,
        minProbability: 0,
        isCostAware: false,
        findTool: () => tool,
        isUp: () => true,
        isInContext: () => false,
        isCached: () => false,
        observedTokens: () => undefined,
      })
      expect(calls.length + declined.length).toBe(1)
      if (calls.length === 0) return
      planned++
      expect(await carryOut(calls)).toEqual([tool.name])
      expect(mayBePlanned(tool, user, mined)).toBe(true)
      const isClosed = tool.isTrusted && tool.annotations?.openWorldHint === false
      expect(!address || known || isClosed).toBe(true)
    }),
    { numRuns: RUNS },
  )
  // The property is about something: a part of the tools is planned.
  expect(planned).toBeGreaterThan(leastHits(RUNS / 50))
})
