import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { compressMessages } from '../../../../../src/core/conversation/rewrite/compress-messages.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'
import { leastHits } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'
import { type Step, turnBody } from '../../../../support/turns/bodies.ts'

const local = localContext()
const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }
const TERMS = { model: 'gpt-5', tools: ['Read', 'Edit'] }

/** A process that remembers what it has read, so that a reference has all chances. */
function remembering(terms: { readonly forgets?: true } = {}) {
  return {
    ...local,
    keepsOriginals: true,
    terms: { redeems: false, bypass: false, references: true, ...terms },
    rewrites: {
      tenant: 't',
      memory: attachRewriteMemory(createBodyMemory({ bytes: 1 << 18 })),
      recalled: {},
      history: createHistoryMemory(2, 1 << 19),
    },
  }
}

const lines = (seed: number, count: number, edited: number) =>
  Array.from({ length: count }, (_, i) => {
    return `line ${i} of ${seed * 7919}${i === edited ? ' edited' : ''}: ${(i + seed) * 104729}`
  }).join('\n')

const text = fc
  .record({ seed: fc.nat(2), count: fc.constantFrom(12, 25), edited: fc.nat(30) })
  .map(({ seed, count, edited }) => lines(seed, count, edited))

const step: fc.Arbitrary<Step> = fc.record({
  tool: fc.constantFrom('Read', 'Edit'),
  args: fc.oneof(
    fc.constant({ file_path: '/a' }),
    text.map(content => ({ content })),
  ),
  text,
  isError: fc.constant(false),
})

type Message = Record<string, unknown>

/** Compactions by the dialect in which a client sends them. */
const WALLS: Readonly<Record<RouteName, readonly Message[]>> = {
  anthropic_messages: [
    { role: 'assistant', content: [{ type: 'compaction', content: 'a summary' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'x' }, { type: 'cleared_results' }] },
    { role: 'assistant', content: 'a summary', context_management: { applied_edits: [1] } },
  ],
  openai_chat: [
    { role: 'assistant', content: [{ type: 'compaction', text: 'a summary' }] },
    { role: 'system', content: 'a summary', compacted: true },
  ],
  openai_responses: [
    { type: 'compaction', encrypted_content: 'gAAAA' },
    { type: 'compaction_summary', encrypted_content: 'gAAAA' },
    { type: 'message', role: 'assistant', content: [{ type: 'context_truncated' }] },
  ],
  gemini_generate: [{ role: 'model', parts: [{ contextCompression: { summary: 'x' } }] }],
  bedrock_converse: [{ role: 'assistant', content: [{ compaction: { summary: 'x' } }] }],
}

const LIST: Readonly<Record<RouteName, string>> = {
  anthropic_messages: 'messages',
  openai_chat: 'messages',
  openai_responses: 'input',
  gemini_generate: 'contents',
  bedrock_converse: 'messages',
}
const ROUTES = Object.keys(WALLS) as RouteName[]

interface Walled {
  readonly route: RouteName
  readonly steps: readonly Step[]
  readonly at: number
  readonly kind: number
  /** Whether it comes as a message of a WebSocket, if its dialect has those. */
  readonly isMessage: boolean
  /** Whether both conversations begin with another compaction. */
  readonly isTwice: boolean
}

const walled: fc.Arbitrary<Walled> = fc.record({
  route: fc.constantFrom(...ROUTES),
  steps: fc.array(step, { minLength: 2, maxLength: 8 }),
  at: fc.nat(20),
  kind: fc.nat(2),
  isMessage: fc.boolean(),
  isTwice: fc.boolean(),
})

function bodyOf(route: RouteName, steps: readonly Step[]): Record<string, Message[]> {
  const turn = { end: steps.length, before: steps.length - 1 }
  return JSON.parse(Buffer.from(turnBody(route, steps, turn, TERMS)).toString())
}

/** The texts of results, from a place of the conversation on. */
function textsFrom(body: Uint8Array, route: RouteName, from: number): readonly string[] {
  const { results } = scanRequest(body, route, LIMITS)!
  return results.filter(({ message }) => message > from).map(result => result.text())
}

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

/** The same steps with other texts, which share no line with those that are drawn. */
function unlike(steps: readonly Step[]): readonly Step[] {
  return steps.map((each, i) => ({
    ...each,
    args: { content: lines(100 + i, 20, -1) },
    text: lines(200 + i, 20, -1),
  }))
}

/** Two conversations that differ in everything before a compaction, and in nothing after it. */
function twins({ route, steps, at, kind, isTwice }: Walled) {
  const [one, other] = [bodyOf(route, steps), bodyOf(route, unlike(steps))]
  const list = LIST[route]
  const wall = WALLS[route][kind % WALLS[route].length]!
  if (isTwice) for (const each of [one, other]) each[list]!.unshift(wall)
  const place = at % (one[list]!.length + 1)
  const after = one[list]!.slice(place)
  const withWall = (body: typeof one) => [...body[list]!.slice(0, place), wall, ...after]
  return { place, list, one: withWall(one), other: withWall(other), body: one }
}

describe('what stands after a compaction', () => {
  it('does not depend on anything before it, in any dialect, turn by turn as at once', () => {
    const context = remembering()
    let referred = 0
    fc.assert(
      fc.property(walled, fc.nat(20), (conversation, earlier) => {
        const { route, isMessage } = conversation
        const type = isMessage && route === 'openai_responses' ? { type: 'response.create' } : {}
        const { place, list, one, other, body } = twins(conversation)
        const written = (messages: readonly Message[]) => {
          const request = bytes({ ...type, ...body, [list]: messages })
          const sent = rewriteRequest(request, route, LIMITS, context)
          const { memory } = context.rewrites
          for (const { position } of sent.records ?? [])
            if (position !== null) memory.confirm(position)
          return sent
        }
        // What was sent for the same results without a compaction is not sent with it.
        written(body[list]!)
        const rewritten = written(one)
        const texts = textsFrom(rewritten.bytes, route, place)
        expect(textsFrom(written(other).bytes, route, place)).toEqual(texts)
        referred += texts.filter(each => each.includes('> [')).length
        const turn = written(one.slice(0, 1 + (earlier % one.length)))
        const before = textsFrom(turn.bytes, route, -1)
        expect(before).toEqual(textsFrom(rewritten.bytes, route, -1).slice(0, before.length))
      }),
      { numRuns: fewRuns(400, 15) },
    )
    expect(referred).toBeGreaterThanOrEqual(leastHits(20))
  })

  it('does not either in what is compressed', () => {
    let referred = 0
    fc.assert(
      fc.property(
        walled,
        fc.constantFrom<RouteName>('anthropic_messages', 'openai_chat'),
        (drawn, route) => {
          const { place, one, other } = twins({ ...drawn, route })
          const written = (messages: readonly Message[]) => {
            const answer = compressMessages({ messages: [...messages] }, remembering())
            return JSON.stringify(answer.messages.slice(place + 1))
          }
          const text = written(one)
          expect(written(other)).toBe(text)
          referred += text.split('> [').length - 1
        },
      ),
      { numRuns: fewRuns(200, 10) },
    )
    expect(referred).toBeGreaterThanOrEqual(leastHits(20))
  })
})

describe('a request whose provider may forget', () => {
  const again = { tool: 'Read', args: { file_path: '/a' }, isError: false, text: lines(1, 25, -1) }
  const steps = [again, again]

  it.each(ROUTES)('%s: refers to nothing, by a field, a switch or a header', route => {
    const body = bodyOf(route, steps)
    const written = (more: object, terms = {}) => {
      const { bytes: sent } = rewriteRequest(
        bytes({ ...body, ...more }),
        route,
        LIMITS,
        remembering(terms),
      )
      return Buffer.from(sent).toString()
    }
    expect(written({})).toContain('> [ref ')
    expect(written({}, { forgets: true })).not.toContain('> [')
    for (const field of [
      { truncate_prompt_tokens: 4000 },
      { plugins: [{ id: 'context-compression' }] },
      { additionalModelRequestFields: { context_management: { edits: [] } } },
    ]) {
      expect(written(field)).not.toContain('> [')
    }
    expect(written({ plugins: [{ id: 'web' }] })).toContain('> [ref ')
  })

  it('is compressed without references too', () => {
    const { messages } = bodyOf('openai_chat', steps) as { messages: Message[] }
    const written = (more: object) =>
      JSON.stringify(compressMessages({ messages, ...more }, remembering()).messages)
    expect(written({})).toContain('> [ref ')
    expect(written({ transforms: ['middle-out'] })).not.toContain('> [')
    expect(written({ x: { truncate: 5 } })).not.toContain('> [')
  })
})
