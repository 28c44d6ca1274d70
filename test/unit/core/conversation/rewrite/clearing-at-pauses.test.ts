import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CLEARING_TERMS, type ClearingTerms } from '../../../../../src/core/base/clearing-terms.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { readStored } from '../../../../../src/core/conversation/rewrite/stored-rewrite.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { parseHint } from '../../../../../src/core/hints/hint-line.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'
import { page } from '../../../../support/made-text.ts'
import { leastHits } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'

const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }
const MINUTE = 60_000

/** With these prices no step pays, so each step is that of a pause. */
const CLEARING = { enabled: true, keepNewest: 2, keepAtPauses: 2 }

/** What the processes of a service share. */
interface Shared {
  now: number
  readonly store: Map<string, Uint8Array>
}

function sharedAt(now = 1_000_000_000): Shared {
  return { now, store: new Map() }
}

type Clearing = Partial<ClearingTerms> & { readonly enabled?: boolean; readonly exclude?: string[] }

/** A process that remembers what it sent. */
function processOf(shared: Shared, { enabled, exclude, ...clearing }: Clearing = CLEARING) {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 19 }))
  return {
    ...localContext(),
    keepsOriginals: true,
    pipeline: pipelineSchema.parse({ clearing: { enabled, exclude } }),
    terms: {
      redeems: true,
      bypass: false,
      cacheLives: [{ seconds: 300 }],
      clearing: { ...CLEARING_TERMS, ...clearing },
    },
    rewrites: {
      tenant: '',
      memory,
      recalled: {} as Record<string, Uint8Array>,
      history: createHistoryMemory(2, 1 << 19),
      now: () => shared.now,
    },
  }
}

type Process = ReturnType<typeof processOf>

/** A result of the agent's calls, or what its user says after the model has answered. */
type Step =
  | { readonly page: number }
  | { readonly text: string }
  | { readonly says: string }
  /** Pages of calls that were made at once. */
  | { readonly pages: readonly number[] }

function bodyOf(steps: readonly Step[], fields: object = {}): Buffer {
  const messages = steps.flatMap((step, i): object[] => {
    if ('says' in step) {
      return [
        { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
        { role: 'user', content: [{ type: 'text', text: step.says }] },
      ]
    }
    const texts =
      'text' in step
        ? [step.text]
        : 'page' in step
          ? [page(step.page)]
          : step.pages.map(seed => page(seed))
    const call = { type: 'tool_use', name: 'Read', input: { file_path: '/src/a.ts' } }
    return [
      { role: 'assistant', content: texts.map((_, n) => ({ ...call, id: `t${i} ${n}` })) },
      {
        role: 'user',
        content: texts.map((content, n) => {
          return { type: 'tool_result', tool_use_id: `t${i} ${n}`, content }
        }),
      },
    ]
  })
  const tools = [{ name: 'haversack_retrieve', input_schema: {} }]
  return Buffer.from(JSON.stringify({ model: 'claude-sonnet-4-5', tools, messages, ...fields }))
}

/** Sends a body as a service does: what is recorded takes precedence, and what is new is recorded. */
function send(
  body: Uint8Array,
  { store }: Shared,
  context: Process,
  route: RouteName = 'anthropic_messages',
) {
  const recalled: Record<string, Uint8Array> = {}
  for (let run = 0; run < 10; run++) {
    const rewrites = { ...context.rewrites, recalled }
    const sent = rewriteRequest(body, route, LIMITS, { ...context, rewrites })
    const other = sent.records.filter(({ key, bytes }) => {
      const found = store.get(key)
      return found !== undefined && Buffer.compare(found, bytes) !== 0
    })
    for (const { key } of other) recalled[key] = store.get(key)!
    if (other.length > 0) continue
    for (const [key, bytes] of Object.entries(recalled)) {
      context.rewrites.memory.confirm(context.rewrites.memory.place(key, bytes)!)
    }
    for (const { key, bytes, position, isQuestion } of sent.records) {
      if (isQuestion === true) continue
      store.set(key, bytes)
      if (position !== null) context.rewrites.memory.confirm(position)
    }
    expect(sent.report.prefix_changed).toBe(false)
    return sent
  }
  throw new Error('the record and the process do not agree')
}

function textsOf(bytes: Uint8Array): string[] {
  const { messages } = JSON.parse(Buffer.from(bytes).toString())
  return messages.flatMap((each: { content: { content?: string }[] }) =>
    each.content.flatMap(({ content }) => content ?? []),
  )
}

const isStub = (text: string) => parseHint(text)?.family === 'elision'
const pages = (count: number): Step[] => Array.from({ length: count }, (_, at) => ({ page: at }))
const says = (text = 'Go on.'): Step => ({ says: text })
const SHORT: Step = { text: 'ok' }

/** Plays the turns of a conversation, so many minutes apart. Returns the stubs after the last. */
function stubsAfter(
  steps: readonly Step[],
  minutes: number,
  {
    shared = sharedAt(),
    context = processOf(shared),
    fields = {},
    lastContext = context,
  }: {
    shared?: Shared
    context?: Process
    fields?: object
    lastContext?: Process
  } = {},
): number {
  for (let end = 1; end < steps.length; end++) {
    shared.now += MINUTE
    send(bodyOf(steps.slice(0, end), fields), shared, context)
  }
  shared.now += minutes * MINUTE
  return textsOf(send(bodyOf(steps, fields), shared, lastContext).bytes).filter(isStub).length
}

describe('clearing without a setting', () => {
  /** A conversation that the user began, of an agent with tools of its own. */
  function stubs(terms: object, minutes: number, clearing: Clearing = {}): number {
    const shared = sharedAt()
    const plain = processOf(shared, { keepNewest: 2, keepAtPauses: 2, ...clearing })
    const context = { ...plain, terms: { ...plain.terms, ...terms } }
    const steps = [...pages(20), says()]
    const begun = (end: number) => {
      const tools = [{ name: 'Read', input_schema: {} }]
      const body = JSON.parse(bodyOf(steps.slice(0, end), { tools }).toString())
      const messages = [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }]
      return Buffer.from(JSON.stringify({ ...body, messages: messages.concat(body.messages) }))
    }
    let last: string[] = []
    for (let end = 0; end <= steps.length; end += end < 20 ? 10 : 1) {
      shared.now += (end === steps.length ? minutes : 1) * MINUTE
      last = textsOf(send(begun(end), shared, context).bytes)
    }
    return last.filter(isStub).length
  }

  it('is at pauses of conversations whose calls the proxy answers, and nowhere else', () => {
    expect(stubs({ addsTool: true }, 6)).toBe(18)
    // At this price, a step in the middle of so long a conversation pays.
    const cheap = { cacheWrite: 0.11 }
    expect(stubs({ addsTool: true }, 1, cheap)).toBe(0)
    expect(stubs({ addsTool: true }, 1, { ...cheap, enabled: true })).toBeGreaterThan(0)
    expect(stubs({}, 6)).toBe(0)
    expect(stubs({ addsTool: true }, 6, { enabled: false })).toBe(0)
  })
})

describe('clearing at a pause', () => {
  it('takes a step when a user comes back after the cache has expired', () => {
    expect(stubsAfter([...pages(8), says()], 4)).toBe(0)
    expect(stubsAfter([...pages(8), says()], 6)).toBe(6)
  })

  it('takes a step before the result of a call that took as long', () => {
    expect(stubsAfter(pages(8), 4)).toBe(0)
    expect(stubsAfter(pages(8), 6)).toBe(5)
  })

  it('sends the same afterwards, whichever process the turns come through', () => {
    const shared = sharedAt()
    const one = processOf(shared)
    // The last one before the pause refers to the first, which goes.
    const before: Step[] = [...pages(7), { page: 0 }]
    const steps = [...before, says(), SHORT, { page: 8 }, SHORT, says('And?'), { page: 9 }]
    let last: string[] = []
    for (let end = 1; end <= steps.length; end++) {
      shared.now += (end === 9 ? 10 : 1) * MINUTE
      const body = bodyOf(steps.slice(0, end))
      const sent = send(body, shared, one)
      const texts = textsOf(sent.bytes)
      if (end > 9) expect(texts.slice(0, last.length)).toEqual(last)
      // One record for the result, and none for what is as it was.
      const written = sent.records.filter(({ isQuestion }) => isQuestion !== true)
      if (end > 1 && 'page' in steps[end - 1]!) expect(written).toHaveLength(1)
      if (end === 10) expect(written).toEqual([])
      const asked = sent.records.length - written.length
      // A turn of an agent that goes on by itself has no question.
      if (end <= 8) expect(asked).toBe(0)
      if (end > 9 && !('page' in steps[end - 1]!)) expect(asked).toBeLessThanOrEqual(1)
      expect(texts.filter(isStub).length).toBe(end < 9 ? 0 : 6)
      last = texts
      expect(Buffer.compare(send(body, shared, processOf(shared)).bytes, sent.bytes)).toBe(0)
      expect(Buffer.compare(send(body, shared, one).bytes, sent.bytes)).toBe(0)
    }
  })

  it('needs a process that has read the turn before', () => {
    const shared = sharedAt()
    expect(stubsAfter([...pages(8), says()], 60, { lastContext: processOf(shared), shared })).toBe(
      0,
    )
    const steps = [...pages(8), says()]
    const other = processOf(shared)
    // Another one has sent the turn in between, which has kept the cache.
    for (const end of [7, 8]) send(bodyOf(steps.slice(0, end)), shared, other)
    send(bodyOf([...steps, { page: 8 }]), shared, processOf(shared))
    shared.now += 60 * MINUTE
    const last = send(bodyOf([...steps, { page: 8 }, says()]), shared, other)
    expect(textsOf(last.bytes).filter(isStub).length).toBe(0)
  })

  it.each([
    ['5m', 6, 6],
    ['1h', 59, 0],
    ['1h', 61, 6],
    // No provider's.
    ['1 h', 6, 6],
    ['99999h', 6, 6],
  ])('heeds a life of %s that the request asks for: %d minutes', (ttl, minutes, stubs) => {
    const system = [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl } }]
    expect(stubsAfter([...pages(8), says()], minutes, { fields: { system } })).toBe(stubs)
  })

  it('heeds how many results stay at pauses', () => {
    const shared = sharedAt()
    const context = processOf(shared, { ...CLEARING, keepAtPauses: 5 })
    expect(stubsAfter([...pages(8), says()], 6, { shared, context })).toBe(3)
  })

  it('is off without clearing', () => {
    const shared = sharedAt()
    const off = processOf(shared, {})
    expect(stubsAfter([...pages(8), says()], 60, { shared, context: off })).toBe(0)
  })

  it('counts a request that only counts tokens as no use of the cache', () => {
    const shared = sharedAt()
    const context = processOf(shared)
    const counting = { ...context, terms: { ...context.terms, countsOnly: true as const } }
    const steps = [...pages(8), says()]
    for (let end = 1; end < steps.length; end++) {
      send(bodyOf(steps.slice(0, end)), shared, context)
    }
    shared.now += 3 * MINUTE
    send(bodyOf(steps.slice(0, -1)), shared, counting as never)
    shared.now += 3 * MINUTE
    const counted = send(bodyOf(steps), shared, counting as never)
    const sent = send(bodyOf(steps), shared, context)
    expect(textsOf(sent.bytes).filter(isStub).length).toBe(6)
    expect(Buffer.compare(counted.bytes, sent.bytes)).toBe(0)
  })

  it('takes no step while the clock goes backwards, or the agent goes another way', () => {
    expect(stubsAfter([...pages(8), says()], -60)).toBe(0)
    const shared = sharedAt()
    const context = processOf(shared)
    stubsAfter(pages(8), 1, { shared, context })
    shared.now += 60 * MINUTE
    const edited = [...pages(7), { page: 70 }, says()]
    expect(textsOf(send(bodyOf(edited), shared, context).bytes).filter(isStub).length).toBe(0)
  })

  it('is one step, though the turn has more new results, and is made again in each run', () => {
    const shared = sharedAt()
    const context = processOf(shared)
    const steps: Step[] = [...pages(8), { pages: [8, 9, 10] }]
    expect(stubsAfter(steps, 6, { shared, context })).toBe(6)
    const clears = [...shared.store.values()].flatMap(bytes => readStored(bytes)?.clears ?? [])
    expect(clears).toEqual([0, 1, 2, 3, 4, 5])

    const other = sharedAt()
    const process = processOf(other)
    stubsAfter(pages(8), 1, { shared: other, context: process })
    other.now += 6 * MINUTE
    // As if the record had something else, so that nothing of the first run holds.
    for (const run of [1, 2]) {
      const sent = rewriteRequest(bodyOf(steps), 'anthropic_messages', LIMITS, process)
      expect([run, textsOf(sent.bytes).filter(isStub).length]).toEqual([run, 6])
    }
  })

  it('is none if the client clears by itself', () => {
    const cleared: Step = { text: '[Old tool result content cleared]' }
    expect(stubsAfter([cleared, ...pages(8), says()], 6)).toBe(0)
  })

  it('is recorded again if the store may have lost it', () => {
    const shared = sharedAt()
    const context = processOf(shared)
    const steps = [...pages(8), says()]
    stubsAfter(steps, 6, { shared, context })
    const before = new Map(shared.store)
    shared.store.clear()
    const again = { ...context, terms: { ...context.terms, recordsAgain: true as const } }
    const { records } = send(bodyOf(steps), shared, again as never)
    const clearing = records.filter(({ bytes, isQuestion }) => {
      return isQuestion !== true && (readStored(bytes)?.clears?.length ?? 0) > 0
    })
    expect(clearing.map(({ key }) => before.has(key))).toEqual([true])
  })

  it('keeps its step while the service is paused', () => {
    const shared = sharedAt()
    const context = processOf(shared)
    const steps = [...pages(8), says()]
    expect(stubsAfter(steps, 6, { shared, context })).toBe(6)
    const paused = { ...context, isPaused: true as const }
    expect(textsOf(send(bodyOf(steps), shared, paused as never).bytes).filter(isStub).length).toBe(
      6,
    )
  })
})

describe('the steps of pauses', () => {
  const anyTurn = fc.record({
    step: fc.oneof(
      fc.nat({ max: 9 }).map((seed): Step => ({ page: seed })),
      fc.constant(SHORT),
      fc.constant(says()),
    ),
    minutes: fc.integer({ min: 0, max: 9 }),
    process: fc.nat({ max: 2 }),
    /** Through another process as well. */
    again: fc.boolean(),
    /** The process has forgotten everything. */
    isNew: fc.oneof({ arbitrary: fc.constant(false), weight: 5 }, fc.constant(true)),
  })
  const turns = fc.array(anyTurn, { minLength: 4, maxLength: 24 })

  it.each([
    ['alone', CLEARING],
    ['beside those that pay', { ...CLEARING, keepNewest: 4, cachedRead: 0.1, cacheWrite: 0.11 }],
  ])('are the only changes of a prefix, and every process takes them: %s', (_, clearing) => {
    const isAlone = clearing === CLEARING
    let cleared = 0
    fc.assert(
      fc.property(turns, all => {
        const shared = sharedAt()
        const processes = [0, 1, 2].map(() => processOf(shared, clearing))
        const steps: Step[] = []
        let before: string[] = []
        for (const { step, minutes, process, again, isNew } of all) {
          steps.push(step)
          shared.now += minutes * MINUTE
          if (isNew) processes[process] = processOf(shared, clearing)
          const body = bodyOf(steps)
          const { bytes, records } = send(body, shared, processes[process]!)
          for (const record of records) {
            const clears = (record.isQuestion !== true && readStored(record.bytes)?.clears) || []
            expect(new Set(clears).size).toBe(clears.length)
          }
          const texts = textsOf(bytes)
          const gone = texts.filter(isStub).length - before.filter(isStub).length
          expect(gone).toBeGreaterThanOrEqual(0)
          if (gone === 0) expect(texts.slice(0, before.length)).toEqual(before)
          else if (isAlone) expect(minutes).toBeGreaterThan(5)
          cleared += gone
          before = texts
          if (!again) continue
          const other = send(body, shared, processes[(process + 1) % 3]!)
          expect(Buffer.compare(other.bytes, bytes)).toBe(0)
        }
      }),
      { numRuns: fewRuns(200, 4) },
    )
    expect(cleared).toBeGreaterThanOrEqual(leastHits(10))
  })
})
