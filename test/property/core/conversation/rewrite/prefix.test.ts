import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ClientTerms, type Step, turnBody } from '../../../../../bench/turns/bodies.ts'
import { createFollower } from '../../../../../bench/turns/follow-messages.ts'
import type { FreshRecord } from '../../../../../src/core/contract/operation-result.ts'
import type { RouteName } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import {
  type PipelineConfig,
  pipelineSchema,
} from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../../../../../src/runtime/local-context.ts'
import { leastHits, runs } from '../../../../support/runs.ts'
import { arbitraryToolText } from '../../formats/arbitrary-text.ts'

const local = createLocalContext()
const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }
// Small results leave with a marker too.
const elision = { min_block_bytes: 300 }
const FIRST = pipelineSchema.parse({ elision })
const SECOND = pipelineSchema.parse({
  elision,
  mckp: { formats_enabled: ['json_compact'], recursion_depth: 0 },
  templates: { active: [] },
  dedup: { lines_enabled: false },
})

const rows = fc
  .array(fc.record({ id: fc.nat(999), name: fc.string({ maxLength: 6 }), ok: fc.boolean() }), {
    minLength: 3,
    maxLength: 20,
  })
  .map(all => JSON.stringify(all, null, 2))
/** Files of which some lines differ: later ones can refer to earlier ones. */
const file = fc
  .tuple(fc.nat(3), fc.nat(30))
  .map(([name, edited]) =>
    Array.from({ length: 30 }, (_, i) => `file ${name}, line ${i}${i === edited ? '!' : ''}`).join(
      '\n',
    ),
  )
/** Of which the bulk may be left out. */
const log = fc.tuple(fc.nat(5), fc.nat(119)).map(([name, bad]) =>
  Array.from({ length: 120 }, (_, i) => {
    const said = i === bad ? 'ERROR cannot connect' : `INFO request ${i * 7919} answered`
    return `2026-02-03 11:36:${String(i % 60).padStart(2, '0')} ${said} by worker ${name}`
  }).join('\n'),
)
const step: fc.Arbitrary<Step> = fc.record({
  tool: fc.constantFrom('Read', 'list', 'headroom_retrieve', 'Edit'),
  args: fc.oneof(
    fc.constant({}),
    fc.record({ page: fc.nat(9), content: fc.string({ maxLength: 9 }) }),
  ),
  text: fc.oneof(rows, file, file, log, arbitraryToolText, fc.string({ maxLength: 30 })),
  isError: fc.integer({ min: 0, max: 5 }).map(n => n === 0),
})

interface SomeConversation {
  readonly route: RouteName
  readonly steps: readonly Step[]
  readonly terms: ClientTerms
}

const conversation: fc.Arbitrary<SomeConversation> = fc.record({
  route: fc.constantFrom<RouteName>('anthropic_messages', 'openai_chat', 'openai_responses'),
  steps: fc.array(step, { minLength: 2, maxLength: 9 }),
  terms: fc.record({
    model: fc.constantFrom('gpt-5', 'claude-sonnet-4-5'),
    tools: fc.constantFrom(['Read', 'list'], ['Read', 'headroom_retrieve']),
  }),
})

/**
 * What rewrites one conversation after another like a process, with records that others may share.
 */
function processWith(pipeline: PipelineConfig, records: Map<string, Uint8Array>) {
  const history = createHistoryMemory(2)
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 19 }))

  function run(body: Uint8Array, route: RouteName, recalled: Record<string, Uint8Array>) {
    const rewrites = { tenant: 't', memory, history, recalled }
    const terms = { redeems: true, bypass: false }
    const context = { ...local, keepsOriginals: true, terms, pipeline, rewrites }
    return rewriteRequest(body, route, LIMITS, context)
  }

  /** What is on record otherwise than it would be written now. */
  function recall(fresh: readonly FreshRecord[]): Record<string, Uint8Array> {
    const known = fresh.flatMap(({ key, bytes, replaces }) => {
      const record = records.get(key)
      const holds = record !== undefined && replaces !== true && !Buffer.from(bytes).equals(record)
      return holds ? [[key, record] as const] : []
    })
    return Object.fromEntries(known)
  }

  return (body: Uint8Array, route: RouteName) => {
    const once = run(body, route, {})
    const recalled = recall(once.records)
    const sent = Object.keys(recalled).length === 0 ? once : run(body, route, recalled)
    for (const { key, bytes, position, replaces } of sent.records) {
      if (position !== null) memory.confirm(position)
      if (replaces === true || !records.has(key)) records.set(key, bytes)
    }
    return sent
  }
}

type Rewriting = ReturnType<typeof processWith>

/**
 * Sends each turn through the process that is chosen for it, and holds it against the turn before.
 */
function expectStable(
  { route, steps, terms }: SomeConversation,
  processOf: (turn: number) => Rewriting,
): { readonly rewritten: number; readonly elided: number } {
  const follower = createFollower(route, () => 0)
  const sums = { rewritten: 0, elided: 0 }
  for (const turn of steps.keys()) {
    const { bytes } = turnBody(route, steps, { end: turn + 1, before: turn }, terms)
    const sent = processOf(turn)(bytes, route)
    expect(sent.report).toMatchObject({ readable: true, prefix_changed: false })
    expect(follower.advance(sent.bytes).changedAt).toBeNull()
    expect(processOf(turn)(bytes, route).bytes).toEqual(sent.bytes)
    sums.rewritten += sent.report.rewritten
    sums.elided += sent.report.tokens_elided ?? 0
  }
  return sums
}

describe('what is sent for a conversation', () => {
  it('begins as before where nothing is remembered, with one configuration', () => {
    let [rewritten, elided] = [0, 0]
    fc.assert(
      fc.property(conversation, fc.constantFrom(FIRST, SECOND), (conversation, pipeline) => {
        const sums = expectStable(conversation, () => processWith(pipeline, new Map()))
        rewritten += sums.rewritten
        elided += sums.elided
      }),
      { numRuns: runs(25) },
    )
    expect(rewritten).toBeGreaterThan(leastHits(runs(25)))
    expect(elided).toBeGreaterThan(leastHits(runs(25) * 4))
  })

  it('begins as before by the records, in other processes and with other configurations', () => {
    let [rewritten, elided] = [0, 0]
    fc.assert(
      fc.property(
        conversation,
        fc.array(fc.nat(3), { minLength: 9, maxLength: 9 }),
        (conversation, choices) => {
          const records = new Map<string, Uint8Array>()
          const lasting = [FIRST, SECOND].map(pipeline => processWith(pipeline, records))
          // As after a restart, in each turn.
          const brief = [FIRST, SECOND].map((pipeline): Rewriting => {
            return (body, route) => processWith(pipeline, records)(body, route)
          })
          const processes = [...lasting, ...brief]
          const sums = expectStable(conversation, turn => processes[choices[turn]!]!)
          rewritten += sums.rewritten
          elided += sums.elided
        },
      ),
      { numRuns: runs(25) },
    )
    expect(rewritten).toBeGreaterThan(leastHits(runs(25)))
    expect(elided).toBeGreaterThan(leastHits(runs(25) * 4))
  })

  it('would change with another configuration and no records', () => {
    const text = JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id, name: `n${id}` })))
    const steps = [text, `${text}\n`].map(each => ({
      tool: 'list',
      args: {},
      text: each,
      isError: false,
    }))
    const terms = { model: 'gpt-5', tools: [] }
    const turnIn = (turn: number) => processWith([FIRST, SECOND][turn]!, new Map())
    expect(() => expectStable({ route: 'openai_chat', steps, terms }, turnIn)).toThrow()
  })
})
