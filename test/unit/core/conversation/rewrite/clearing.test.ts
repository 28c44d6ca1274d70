import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CLEARING_TERMS, type ClearingTerms } from '../../../../../src/core/base/clearing-terms.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import {
  readStored,
  writeStored,
} from '../../../../../src/core/conversation/rewrite/stored-rewrite.ts'
import { parseHint } from '../../../../../src/core/hints/hint-line.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'
import { fewRuns } from '../../../../support/short-runs.ts'

const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }

/** A write into the cache that costs little more than a read, so that steps pay soon. */
const CHEAP = { enabled: true, keepNewest: 2, cachedRead: 0.1, cacheWrite: 0.11 }

type Clearing = Partial<ClearingTerms> & { readonly enabled?: boolean; readonly exclude?: string[] }

/** A process that remembers what it sent. */
function service({ enabled, exclude, ...clearing }: Clearing = CHEAP, more: object = {}) {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 19 }))
  return {
    ...localContext(),
    keepsOriginals: true,
    pipeline: pipelineSchema.parse({ clearing: { enabled, exclude }, ...more }),
    terms: { redeems: true, bypass: false, clearing: { ...CLEARING_TERMS, ...clearing } },
    rewrites: {
      tenant: '',
      memory,
      recalled: {} as Record<string, Uint8Array>,
      history: createHistoryMemory(2, 1 << 19),
    },
  }
}

/** Lines that no format makes smaller, other ones for each seed. */
const line = (seed: number, at: number) => hash('sha256', `${seed} ${at}`, 'base64url')
const page = (seed: number) => Array.from({ length: 20 }, (_, at) => line(seed, at)).join('\n')

interface Step {
  readonly text: string
  readonly tool?: string
  readonly args?: object
  readonly isError?: boolean
}

function bodyOf(steps: readonly Step[], fields: object = {}): Buffer {
  const messages = steps.flatMap(({ text, tool = 'Read', args = {}, isError }, i) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${i}`, name: tool, input: args }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: `t${i}`,
          content: text,
          ...(isError && { is_error: true }),
        },
      ],
    },
  ])
  const tools = [{ name: 'haversack_retrieve', input_schema: {} }]
  return Buffer.from(JSON.stringify({ model: 'gpt-5', tools, messages, ...fields }))
}

/** One turn, after which its records are kept. */
function turn(steps: readonly Step[], context: ReturnType<typeof service>, fields: object = {}) {
  const sent = rewriteRequest(bodyOf(steps, fields), 'anthropic_messages', LIMITS, context)
  for (const { position, isQuestion } of sent.records) {
    if (isQuestion !== true) context.rewrites.memory.confirm(position!)
  }
  const { messages } = JSON.parse(Buffer.from(sent.bytes).toString())
  const texts: string[] = messages.flatMap((each: { content: { content?: string }[] }) =>
    each.content.flatMap(({ content }) => content ?? []),
  )
  return { ...sent, texts }
}

const isStub = (text: string) => parseHint(text)?.family === 'elision'
const read = (seed: number): Step => ({ text: page(seed), args: { file_path: `/src/${seed}.ts` } })
const reads = (count: number) => Array.from({ length: count }, (_, seed) => read(seed))

/** The texts after each turn of a conversation. */
function play(steps: readonly Step[], context = service()) {
  return steps.map((_, at) => turn(steps.slice(0, at + 1), context))
}

describe('clearing', () => {
  it('replaces old results by their call, lines and hash, and keeps the originals', () => {
    const turns = play(reads(12))
    const { texts, markers, keep, report } = turns.at(-1)!
    const digest = hash('sha256', page(0), 'hex').slice(0, 24)
    expect(texts[0]).toBe(`> [20 lines not shown | "Read /src/0.ts" | hash=${digest}]`)
    expect(texts.slice(-2)).toEqual([page(10), page(11)])
    expect(report.tokens_elided).toBeGreaterThan(0)
    expect([
      ...markers,
      ...keep.map(({ bytes }) => hash('sha256', bytes, 'hex').slice(0, 24)),
    ]).toContain(digest)
    const step = turns.find(each => isStub(each.texts[0]!))!
    expect(step.keep.map(({ bytes }) => Buffer.from(bytes).toString())).toContain(page(0))
  })

  it('is off by itself, without the tool, if something else clears, and without markers', () => {
    const last = (context: ReturnType<typeof service>, fields = {}, steps = reads(12)) => {
      const texts = steps.map((_, at) => turn(steps.slice(0, at + 1), context, fields).texts)
      return texts.at(-1)!.some(isStub)
    }
    expect(last(service())).toBe(true)
    expect(last(service({}))).toBe(false)
    expect(last(service(), { tools: [] })).toBe(false)
    expect(last(service(), { context_management: { edits: [{ type: 'clear_tool_uses' }] } })).toBe(
      false,
    )
    const byClient = [{ text: '[Old tool result content cleared]' }, ...reads(12)]
    expect(last(service(), {}, byClient)).toBe(false)
    const hints = { types: { elision: { enabled: false } } }
    expect(last(service(CHEAP, { hints }))).toBe(false)
  })

  it('takes a stub that a client sends back for content, and clears on after an edited history', () => {
    const context = service()
    const steps = reads(12)
    const stub = play(steps, context).at(-1)!.texts[0]!
    const edited = steps.map((step, at) => (at === 0 ? { ...step, text: stub } : step))
    const turns = play([...edited, ...reads(30).slice(12)], context)
    for (const { texts, report } of turns) {
      // No reader takes it for one of ours, and its original is not looked for.
      expect(texts[0]).toBe(`\\${stub}`)
      expect(report.prefix_changed ?? false).toBe(false)
    }
    expect(turns.at(-1)!.texts.filter(isStub).length).toBeGreaterThan(1)
  })

  it('waits until a step pays', () => {
    const stubs = (clearing: Clearing) =>
      play(reads(16), service({ ...CHEAP, ...clearing }))
        .at(-1)!
        .texts.filter(isStub).length
    expect(stubs({ cacheWrite: 0.11 })).toBeGreaterThan(stubs({ cacheWrite: 0.2 }))
    expect(stubs({ cacheWrite: 1.25 })).toBe(0)
    expect(stubs({ keepNewest: 2 })).toBeGreaterThan(stubs({ keepNewest: 12 }))
  })

  it('spares errors, short results, excluded tools and originals', () => {
    const special: Step[] = [
      { ...read(90), isError: true },
      { ...read(91), text: 'short '.repeat(20) },
      { ...read(92), tool: 'mcp__x__Keep' },
      { ...read(93), tool: 'haversack_retrieve' },
    ]
    const { texts } = play([...special, ...reads(12)], service({ ...CHEAP, exclude: ['Keep'] })).at(
      -1,
    )!
    expect(texts.slice(0, 4).map(isStub)).toEqual([false, false, false, false])
    expect(isStub(texts[4]!)).toBe(true)
  })

  it('spares what a recent edit quotes', () => {
    const quoted = { file_path: '/src/3.ts', old_string: `  ${line(3, 7)}`, new_string: 'x' }
    const steps = reads(12)
    const plain = play(steps)
    const at = plain.findIndex(({ texts }) => isStub(texts[3] ?? ''))
    const edited = steps.with(at - 1, { text: 'Done.', tool: 'Edit', args: quoted })
    expect(play(edited.slice(0, at + 1)).map(({ texts }) => isStub(texts[3] ?? ''))).not.toContain(
      true,
    )
    const other = { ...quoted, old_string: line(77, 7) }
    const unrelated = steps.with(at - 1, { text: 'Done.', tool: 'Edit', args: other })
    expect(
      isStub(play([...unrelated.slice(0, at + 1), read(30), read(31)]).at(-1)!.texts[3]!),
    ).toBe(true)
  })

  it('writes out references to what goes, and makes none to it', () => {
    const steps = [read(0), read(1), read(0), ...reads(12).slice(2), read(0), read(1)]
    const turns = play(steps, service({ ...CHEAP, cacheWrite: 0.12 }))
    expect(turns[2]!.texts[2]).toMatch(/^> \[ref/)
    // The first goes, and the one that referred to it stays for a while.
    expect(turns.some(({ texts }) => isStub(texts[0]!) && texts[2] === page(0))).toBe(true)
    for (const { texts } of turns) {
      for (const [index, text] of texts.entries()) {
        const [, ref = '-'] = /^> \[ref ([0-9a-f]{8})/.exec(text) ?? []
        const isThere = (other: string, at: number) =>
          at < index && !isStub(other) && hash('sha256', steps[at]!.text, 'hex').startsWith(ref)
        expect(ref === '-' || texts.some(isThere)).toBe(true)
      }
    }
    expect(turns.at(-1)!.texts.filter(isStub).length).toBeGreaterThan(3)
  })
})

describe('the steps of clearing', () => {
  const anySteps = fc.array(
    fc.record({
      seed: fc.integer({ min: 0, max: 9 }),
      isError: fc.boolean(),
      edits: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
    }),
    { minLength: 6, maxLength: 14 },
  )
  const stepOf = ({
    seed,
    isError,
    edits,
  }: {
    seed: number
    isError: boolean
    edits: number | undefined
  }): Step =>
    edits === undefined
      ? { ...read(seed), isError: isError && seed === 0 }
      : { text: page(seed), tool: 'Edit', args: { old_string: line(edits, 3) } }

  // What an edit quoted once had an effect on later steps, in one process only.
  const ONCE_RESET = [0, 8, 0, 0, 0, 0, 0, 0, 0, 0].map((seed, at) => {
    return { seed, isError: false, edits: at === 3 ? 8 : undefined }
  })

  it('are the only changes of a prefix, and the same for every process', () => {
    let cleared = 0
    fc.assert(
      fc.property(anySteps, fc.nat(), (found, at) => {
        const steps = found.map(stepOf)
        const one = play(steps)
        let stubs = 0
        for (const [index, { texts, report }] of one.entries()) {
          expect(report.prefix_changed).toBe(false)
          const now = texts.filter(isStub).length
          if (index > 0 && now === stubs) {
            expect(texts.slice(0, -1)).toEqual(one[index - 1]!.texts)
          }
          stubs = now
        }
        cleared += stubs
        // A process that comes later, and one with other settings that has the records.
        const turnAt = at % steps.length
        const body = steps.slice(0, turnAt + 1)
        expect(turn(body, service()).texts).toEqual(one[turnAt]!.texts)
        const records = Object.fromEntries(
          one.flatMap(({ records: all }) => all.map(({ key, bytes }) => [key, bytes])),
        )
        const other = service({ enabled: false })
        Object.assign(other.rewrites.recalled, records)
        const again = turn(body, other)
        expect(again.texts).toEqual(one[turnAt]!.texts)
        expect(again.records).toEqual([])
      }),
      { numRuns: fewRuns(20, 2), examples: [[ONCE_RESET, 6]] },
    )
    expect(cleared).toBeGreaterThan(0)
  })

  it('are not followed, and counted as a change, if nothing can be retrieved', () => {
    const context = service()
    const steps = reads(12)
    expect(play(steps, context).at(-1)!.texts.some(isStub)).toBe(true)
    const lossless = { ...context, terms: { ...context.terms, redeems: false } }
    const { texts, report } = turn(steps, lossless)
    expect([texts.some(isStub), report.prefix_changed]).toEqual([false, true])
    expect(turn(steps, context).texts.some(isStub)).toBe(true)
  })

  it('are counted as a change if a record has another one', () => {
    const steps = reads(12)
    const all = play(steps)
      .flatMap(({ records }) => records)
      .filter(({ isQuestion }) => isQuestion !== true)
    const cleared = all.findLast(({ bytes }) => readStored(bytes)?.clears !== undefined)!
    const { clears, ...rest } = readStored(cleared.bytes)!
    const changedIn = (bytes: Uint8Array) => {
      const context = service()
      const records = all.map(each => [each.key, each === cleared ? bytes : each.bytes])
      Object.assign(context.rewrites.recalled, Object.fromEntries(records))
      return turn(steps, context).report.prefix_changed
    }
    expect(clears?.length).toBeGreaterThan(0)
    expect(changedIn(cleared.bytes)).toBe(false)
    expect(changedIn(writeStored({ ...rest, clears: clears!.slice(1) }))).toBe(true)
  })

  it('restore originals that are gone', () => {
    const context = service()
    const steps = reads(12)
    play(steps, context)
    const { keep, markers } = turn(steps, {
      ...context,
      terms: { ...context.terms, restores: true } as never,
    })
    expect(markers).toEqual([])
    expect(keep.map(({ bytes }) => Buffer.from(bytes).toString())).toContain(page(0))
  })
})
