import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RequestTerms } from '../../../../../src/core/contract/request-terms.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import type { ConversationContext } from '../../../../../src/core/conversation/rewrite/rewrite-context.ts'
import {
  attachRewriteMemory,
  type RewriteMemory,
} from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import {
  type PipelineConfig,
  pipelineSchema,
} from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { READING_LEVELS, type ReadingLevel } from '../../../../../src/core/reading/constructs.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { type Recalled, runByRecord } from '../../../../../src/http/proxy/run-by-record.ts'
import { createRewrites } from '../../../../../src/store/sharing/rewrites.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { localContext } from '../../../../support/local-context.ts'
import { FULL_RUNS, leastHits, runs } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'
import { type ClientTerms, type Step, turnBody } from '../../../../support/turns/bodies.ts'
import { createFollower } from '../../../../support/turns/follow-messages.ts'
import { arbitraryToolText } from '../../formats/arbitrary-text.ts'

const local = localContext()
const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }
// Small results leave with a marker too.
const ELIDING = {
  elision: { in_proxies: true, min_block_bytes: 300 },
  endpoint_overrides: { '*': { elision_min_saved_tokens: 0 } },
}
const FIRST = pipelineSchema.parse(ELIDING)
const SECOND = pipelineSchema.parse({
  ...ELIDING,
  mckp: { formats_enabled: ['json_compact'], recursion_depth: 0 },
  templates: { active: [] },
  hints: { types: { lines: { enabled: false } } },
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
/** A log whose bulk may be left out. */
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

/** One in which a table is written shorter and the bulk of a log is left out, whatever is drawn. */
const CERTAIN: SomeConversation = {
  route: 'anthropic_messages',
  steps: [
    JSON.stringify(
      Array.from({ length: 20 }, (_, id) => ({ id, name: `n${id}` })),
      null,
      2,
    ),
    Array.from({ length: 120 }, (_, i) => `INFO request ${i * 7919} answered`).join('\n'),
  ].map(text => ({ tool: 'list', args: {}, text, isError: false })),
  terms: { model: 'gpt-5', tools: ['Read', 'headroom_retrieve'] },
}

/** One whose logs each level writes in another way. */
const LOGS: SomeConversation = {
  ...CERTAIN,
  steps: Array.from({ length: 4 }, (_, n) => ({
    tool: 'list',
    args: { n },
    isError: false,
    text: Array.from(
      { length: 60 },
      (_, i) => `GET /orders/${i * 7919 + n} took ${i % 7} ms, status ${200 + (i % 3)}`,
    ).join('\n'),
  })),
}
const AT_EACH_LEVEL: readonly Levels[] = Array.from({ length: 9 }, (_, turn) => ({
  header: [undefined, 'plain', 'dense'][turn % 3] as ReadingLevel | undefined,
  configured: READING_LEVELS[(turn + 1) % 3]!,
}))

/**
 * Rewrites one conversation after another like a process, with records that others may share.
 * @param misses whether the memory has just not got what is looked up: another request may put
 * the results of a conversation there one by one
 */
function processWith(
  pipeline: PipelineConfig,
  records: Map<string, Uint8Array>,
  misses: () => boolean = () => false,
  arms: Pick<RequestTerms, 'arms'> = {},
  asked: Pick<ConversationContext, 'reading' | 'generations'> = {},
) {
  const history = createHistoryMemory(2)
  const shared = attachRewriteMemory(createBodyMemory({ bytes: 1 << 19 }))
  const memory: RewriteMemory = { ...shared, get: key => (misses() ? null : shared.get(key)) }

  function run(body: Uint8Array, route: RouteName, recalled: Recalled) {
    const rewrites = { tenant: 't', memory, history, recalled }
    const terms = { redeems: true, bypass: false, ...arms }
    const context = { ...local, keepsOriginals: true, terms, pipeline, rewrites, ...asked }
    return rewriteRequest(body, route, LIMITS, context)
  }

  const rewrites = createRewrites(storeOf(records), () => 1_000)

  return async (body: Uint8Array, route: RouteName) => {
    let last: ReturnType<typeof run> | undefined
    const result = await runByRecord(
      async recalled => {
        last = run(body, route, recalled)
        const { bytes, records, keep = [], markers = [] } = last
        const times = { queue_ms: 0, work_ms: 0 }
        const answer = { media: 'json', body: bytes, reports: [], dependencies: [] } as const
        return { ok: true, ...times, ...answer, records: records ?? [], keep, markers }
      },
      {
        ...{ tenant: 't', rewrites, memory, onUnrecorded: expect.unreachable },
        generations: { keep: async () => {} },
      },
    )
    if (!result.ok || last === undefined) throw new Error('it failed')
    await rewrites.record('t', result.records)
    for (const { position } of result.records) if (position !== null) memory.confirm(position)
    return last
  }
}

const BY_LEVEL = new Map(
  READING_LEVELS.map(level => [level, pipelineSchema.parse({ ...ELIDING, reading: { level } })]),
)

/** What a request and the configuration of its process say of the level. */
interface Levels {
  readonly header: ReadingLevel | undefined
  readonly configured: ReadingLevel
}

function processAtLevel({ header, configured }: Levels, records: Map<string, Uint8Array>) {
  const generations = {
    newest: configured,
    find: (id: string) => BY_LEVEL.get(id as ReadingLevel) ?? null,
    isLost: () => false,
  }
  const asked = { generations, ...(header && { reading: header }) }
  return processWith(BY_LEVEL.get(configured)!, records, () => false, {}, asked)
}

/** Keeps records in a map. */
function storeOf(records: Map<string, Uint8Array>): Pick<Store, 'readRecord' | 'writeRecord'> {
  return {
    async readRecord({ key }) {
      const value = records.get(key)
      if (value === undefined) return { ok: false, reason: 'not_found', detail: '' }
      return { ok: true, value, version: 1, expires_at: null }
    },
    async writeRecord({ key, value, ifVersion }) {
      if (ifVersion === 0 && records.has(key)) return { ok: false, reason: 'conflict', detail: '' }
      records.set(key, value)
      return { ok: true, version: 1 }
    },
  }
}

type Rewriting = ReturnType<typeof processWith>

/**
 * Sends each turn through the process that is chosen for it, and holds it against the turn before.
 */
async function expectStable(
  { route, steps, terms }: SomeConversation,
  processOf: (turn: number) => Rewriting,
): Promise<{ readonly rewritten: number; readonly elided: number; readonly heldOut: number }> {
  const follower = createFollower(route, () => 0)
  const sums = { rewritten: 0, elided: 0, heldOut: 0 }
  for (const turn of steps.keys()) {
    const bytes = turnBody(route, steps, { end: turn + 1, before: turn }, terms)
    const sent = await processOf(turn)(bytes, route)
    expect(sent.report).toMatchObject({ readable: true, prefix_changed: false })
    expect(follower.advance(sent.bytes).changedAt).toBeNull()
    expect((await processOf(turn)(bytes, route)).bytes).toEqual(sent.bytes)
    if (sent.report.held_out !== undefined) {
      sums.heldOut++
      expect(sent.bytes).toBe(bytes)
    }
    sums.rewritten += sent.report.rewritten
    sums.elided += sent.report.tokens_elided ?? 0
  }
  return sums
}

/** What was reached in conversations that were drawn; the certain one has some of both itself. */
function createTally() {
  const drawn = { rewritten: 0, elided: 0 }
  return {
    add(conversation: SomeConversation, { rewritten, elided }: typeof drawn) {
      if (conversation === CERTAIN) {
        expect(rewritten).toBeGreaterThan(0)
        expect(elided).toBeGreaterThan(0)
        return
      }
      drawn.rewritten += rewritten
      drawn.elided += elided
    },
    /** A few may all be without. */
    expectEnough() {
      if (!FULL_RUNS) return
      expect(drawn.rewritten).toBeGreaterThan(runs(25))
      expect(drawn.elided).toBeGreaterThan(runs(25) * 4)
    },
  }
}

describe('what is sent for a conversation', () => {
  it('begins as before where nothing is remembered, with one configuration', async () => {
    const tally = createTally()
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.constantFrom(FIRST, SECOND),
        async (conversation, pipeline) => {
          const sums = await expectStable(conversation, () => processWith(pipeline, new Map()))
          tally.add(conversation, sums)
        },
      ),
      { numRuns: fewRuns(25, 3), examples: [[CERTAIN, FIRST]] },
    )
    tally.expectEnough()
  })

  it('begins as before by the records, in other processes and with other configurations', async () => {
    const tally = createTally()
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.array(fc.nat(3), { minLength: 9, maxLength: 9 }),
        async (conversation, choices) => {
          const records = new Map<string, Uint8Array>()
          const lasting = [FIRST, SECOND].map(pipeline => processWith(pipeline, records))
          // As after a restart, in each turn.
          const brief = [FIRST, SECOND].map((pipeline): Rewriting => {
            return (body, route) => processWith(pipeline, records)(body, route)
          })
          const processes = [...lasting, ...brief]
          const sums = await expectStable(conversation, turn => processes[choices[turn]!]!)
          tally.add(conversation, sums)
        },
      ),
      { numRuns: fewRuns(25, 3), examples: [[CERTAIN, Array(9).fill(0)]] },
    )
    tally.expectEnough()
  })

  it('begins as before while the memory has some of its results, and not others', async () => {
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.array(fc.boolean(), { minLength: 64, maxLength: 64 }),
        async (conversation, missing) => {
          const records = new Map<string, Uint8Array>()
          let lookup = 0
          const misses = () => missing[lookup++ % missing.length]!
          const processes = [FIRST, SECOND].map(each => processWith(each, records, misses))
          await expectStable(conversation, turn => processes[turn % 2]!)
        },
      ),
      { numRuns: fewRuns(25, 3) },
    )
  })

  it('is of one arm, whatever the shares, salts and processes of its turns are', async () => {
    const share = fc.constantFrom(0, 0.5, 1)
    const arms = fc.record({ holdout: share, explore: share, quarter: fc.nat(3) })
    const secret = new Uint8Array(32)
    let heldOut = 0
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.array(fc.tuple(arms, fc.boolean()), { minLength: 9, maxLength: 9 }),
        fc.nat(3),
        async (conversation, turns, onFrom) => {
          const records = new Map<string, Uint8Array>()
          const sums = await expectStable(conversation, turn => {
            const [drawn, isBrief] = turns[turn]!
            const terms = turn < onFrom ? {} : { arms: { ...drawn, secret } }
            const misses = () => isBrief
            return processWith(turn % 2 === 0 ? FIRST : SECOND, records, misses, terms)
          })
          expect(Math.min(sums.rewritten, sums.heldOut)).toBe(0)
          heldOut += sums.heldOut
        },
      ),
      { numRuns: fewRuns(40, 4) },
    )
    expect(heldOut).toBeGreaterThanOrEqual(leastHits(1))
  })

  it('has the level that it began with, whatever later requests and configurations say', async () => {
    const level = fc.record({
      header: fc.option(fc.constantFrom(...READING_LEVELS), { nil: undefined }),
      configured: fc.constantFrom(...READING_LEVELS),
    })
    let distinct = 0
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.array(level, { minLength: 9, maxLength: 9 }),
        async ({ route, steps, terms }, levels) => {
          const [began] = levels
          const [kept, alone] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()]
          const other = levels.find(({ header }) => header !== began!.header) ?? began
          for (const turn of steps.keys()) {
            const bytes = turnBody(route, steps, { end: turn + 1, before: turn }, terms)
            // As after a restart, or on another replica, in each turn.
            const send = async (asked: (typeof levels)[number], records: typeof kept) =>
              (await processAtLevel(asked, records)(bytes, route)).bytes
            const sent = await send(levels[turn]!, kept)
            expect(sent).toEqual(await send(began!, alone))
            if (Buffer.compare(sent, await send(other!, new Map())) !== 0) distinct++
          }
        },
      ),
      { numRuns: fewRuns(25, 2), examples: [[LOGS, [...AT_EACH_LEVEL]]] },
    )
    expect(distinct).toBeGreaterThan(0)
  })

  it('would change with another configuration and no records', async () => {
    const text = JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id, name: `n${id}` })))
    const steps = [text, `${text}\n`].map(each => ({
      tool: 'list',
      args: {},
      text: each,
      isError: false,
    }))
    const terms = { model: 'gpt-5', tools: [] }
    const turnIn = (turn: number) => processWith([FIRST, SECOND][turn]!, new Map())
    await expect(expectStable({ route: 'openai_chat', steps, terms }, turnIn)).rejects.toThrow()
  })
})
