import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { compressMessages } from '../../../../../src/core/conversation/rewrite/compress-messages.ts'
import { ContextSize } from '../../../../../src/core/conversation/rewrite/context-size.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import {
  type PipelineConfig,
  pipelineSchema,
} from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { anySaving } from '../../../../support/any-saving.ts'
import { localContext } from '../../../../support/local-context.ts'

const log = (seed: number) =>
  Array.from(
    { length: 600 },
    (_, i) => `12:${i % 60}:07 INFO request ${(i + seed) * 7919} took ${i % 9} ms`,
  ).join('\n')

/** Functions with lines that no format makes smaller, other ones for each seed. */
const source = (seed: number) =>
  Array.from({ length: 60 }, (_, at) => {
    const words = Array.from({ length: 8 }, (_, i) => {
      return `w${hash('sha256', `${seed} ${at} ${i}`, 'hex').slice(0, 20)}`
    })
    const body = words.map(word => `  ${word}.run('${word.slice(9)}')`)
    return [`function ${words[0]}() {`, ...body, '}'].join('\n')
  }).join('\n')

const LIMITS = { maxBytes: 10_000_000, maxDepth: 64, maxValues: 10_000 }
const terms = { redeems: true, bypass: false }
const local = { ...localContext(), keepsOriginals: true, terms }

/** Levels from so many tokens on. */
const pressed = (from_tokens: number): PipelineConfig =>
  anySaving({ views: { pressure: [{ from_tokens, level: 'compact' }] } })

/** A conversation with these results. */
function chat(...texts: readonly string[]): Buffer {
  const messages = texts.flatMap((content, i) => {
    const call = { id: `c${i}`, type: 'function', function: { name: 'log', arguments: '{}' } }
    return [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: `c${i}`, content },
    ]
  })
  const tools = [{ type: 'function', function: { name: 'haversack_retrieve' } }]
  return Buffer.from(JSON.stringify({ model: 'gpt-5', tools, messages }))
}

/** A window of so many tokens, and a level from a share of it on. */
const filled = (context_window: number, from_share: number): PipelineConfig =>
  anySaving({
    profiles: { llm: { variants: { 'gpt-5': { context_window } } } },
    views: { pressure: [{ from_share, level: 'compact' }] },
  })

function rewritten(body: Buffer, pipeline: PipelineConfig): string[] {
  const { bytes } = rewriteRequest(body, 'openai_chat', LIMITS, { ...local, pipeline })
  const { messages } = JSON.parse(Buffer.from(bytes).toString())
  return messages.flatMap((each: { role: string; content: string }) =>
    each.role === 'tool' ? [each.content] : [],
  )
}

const calling = (call: object) => ({
  role: 'assistant',
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'log', ...call } }],
})
const using = (input: object, id = 'c') => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'log', input }],
})

const MEMORY = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))

const isCut = (text: string) => /^> \[.* not shown \|/m.test(text)

describe('pressure', () => {
  it('leaves parts out of results that come late in a proxied conversation', () => {
    const texts = rewritten(chat(log(1), log(2), log(3)), pressed(1_500))
    expect(texts.map(isCut)).toEqual([false, true, true])
  })

  it('decides for a result by what is before it alone', () => {
    const pipeline = pressed(3_000)
    const short = rewritten(chat(log(1), log(2), log(3)), pipeline)
    const long = rewritten(chat(log(1), log(2), log(3), log(4), log(5)), pipeline)
    expect(long.slice(0, 3)).toEqual(short)
    expect(long.map(isCut)).toContain(true)
    expect(isCut(long[0]!)).toBe(false)
  })

  it('counts what was left out of earlier results as gone', () => {
    const rows = JSON.stringify(
      Array.from({ length: 99 }, (_, id) => ({ id, name: `user ${id}` })),
      null,
      2,
    )
    const whole = chat(rows, log(1))
    const { messages } = JSON.parse(whole.toString())
    // As the client sends it, so many tokens are before the last result.
    const before = JSON.stringify(messages.slice(0, -1)).length >> 2
    expect(rewritten(whole, pressed(before - 100)).map(isCut)).toEqual([false, false])
    expect(rewritten(whole, pressed(before >> 5)).map(isCut)).toEqual([false, true])
  })

  it('is no matter for requests without the tool that gives originals back', () => {
    const body = JSON.parse(chat(log(1), log(2)).toString())
    const without = Buffer.from(JSON.stringify({ ...body, tools: [] }))
    expect(rewritten(without, pressed(1)).map(isCut)).toEqual([false, false])
  })

  it('follows from the field, and from the messages of /v1/compress', () => {
    const pipeline = pressed(100)
    const encode = (fields: object) =>
      encodeOperation.run({ content: log(1), ...fields }, { ...local, pipeline }).answer
    expect(encode({ context_tokens: 99 }).lossless).toBe(true)
    expect(encode({ context_tokens: 100 }).response_level).toBe('compact')
    expect(encode({ context_tokens: 100, response_budget: 'full' }).lossless).toBe(true)
    const messages = [1, 2].map(seed => ({ role: 'tool', tool_call_id: 'a', content: log(seed) }))
    const { payloads } = compressMessages({ messages }, { ...local, pipeline })
    expect(payloads.map(each => each.rewritten?.answer.response_level)).toEqual([
      undefined,
      'compact',
    ])
  })

  it.each([
    ['OpenAI', (args: object) => calling({ arguments: JSON.stringify(args) })],
    ['Anthropic', (args: object) => using(args)],
  ])('counts calls in /v1/compress as %s has them', (_, call) => {
    const levelAfter = (words: number) => {
      const result = { role: 'tool', tool_call_id: 'c', content: log(1) }
      const said = { role: 'user', content: 'Go on.' }
      const messages = [call({ text: 'word '.repeat(words) }), said, result]
      const { payloads } = compressMessages({ messages }, { ...local, pipeline: pressed(500) })
      return payloads[1]?.rewritten?.answer.response_level
    }
    expect(levelAfter(450)).toBeUndefined()
    expect(levelAfter(550)).toBe('compact')
  })

  it('leaves parts out of a result with references, if that is smaller', () => {
    const shared = source(1).split('\n').slice(0, 100).join('\n')
    const sent = (text: string, pipeline: PipelineConfig, fields = {}) => {
      const messages = [source(1), text].flatMap((content, i) => [
        using({ path: `${i}` }, `c${i}`),
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${i}`, content }] },
      ])
      const history = createHistoryMemory(1)
      const rewrites = { tenant: '', memory: MEMORY, recalled: {}, history }
      const request = { messages, config: { references: true }, ...fields }
      return compressMessages(request, { ...local, pipeline, rewrites }).payloads[1]!.rewritten!
        .answer
    }
    const few = `${source(2)}\n${shared}\n${source(3)}`
    expect(sent(few, anySaving({})).content).toContain('> [ref ')
    expect(sent(few, pressed(100))).toMatchObject({ lossless: false, response_level: 'compact' })
    const full = anySaving({})
    expect(sent(few, full, { response_budget: 100_000 }).content).toContain('> [ref ')
    // The first result fits, and the second one with its references does not.
    const wish = Math.ceil(1.5 * sent(source(2), full).tokens.final)
    expect(sent(few, full, { response_budget: wish }).tokens.final).toBeLessThanOrEqual(wish)
    const most = `${source(1)}\nexport const added = 'one more line that is new'`
    expect(sent(most, pressed(100))).toMatchObject({ lossless: true })
    expect(sent(most, pressed(100)).content).toContain('> [ref ')
  })

  it.each([[[5, 5]], [[9, 5]], [[0]]])('takes no steps from %j', from => {
    const pressure = from.map(from_tokens => ({ from_tokens, level: 'compact' }))
    expect(pipelineSchema.safeParse({ views: { pressure } }).success).toBe(false)
  })
})

describe('the size of a conversation', () => {
  const sizeOf = (body: string, start: number) =>
    new ContextSize({
      body: Buffer.from(body) as never,
      messages: [{ start: 10, end: body.length }],
    }).tokensBefore({ start, end: start })

  it('is a fourth of the bytes from the first message on', () => {
    expect(sizeOf('x'.repeat(500), 410)).toBe(100)
    expect(sizeOf('x'.repeat(500), 10)).toBe(0)
  })

  it.each([
    ['"data":"', 500],
    [';base64,', 500],
    ['"data":"', 502],
  ])('has no images: %s', (head, tokens) => {
    const isText = tokens === 502
    const image = `${head}${'A'.repeat(isText ? 8 : 90_000)}"`
    const body = `${'x'.repeat(1_010)}${image}${'x'.repeat(991)}`
    expect(sizeOf(body, body.length)).toBe(tokens)
  })

  it('is what is sent', () => {
    const size = new ContextSize({ body: Buffer.alloc(1000) as never, messages: [] })
    size.replaced(400, 100)
    expect(size.tokensBefore({ start: 700, end: 800 })).toBe(100)
  })
})

describe('a share of the context window', () => {
  const body = chat(source(1), source(2), source(3))

  it('is as many tokens as it has', () => {
    for (const [window, share] of [
      [40_000, 0.5],
      [100_000, 0.2],
      [10_000, 1],
    ] as const) {
      const same = pressed(Math.ceil(window * share))
      expect(rewritten(body, filled(window, share))).toEqual(rewritten(body, same))
    }
    expect(rewritten(body, filled(10_000, 0.1))).not.toEqual(rewritten(body, filled(10_000, 1)))
  })

  it('of a model without a window is never reached', () => {
    const pipeline = anySaving({
      views: { pressure: [{ from_share: 0.001, level: 'compact' }] },
    })
    expect(rewritten(body, pipeline)).toEqual(rewritten(body, pressed(1_000_000)))
  })

  it('is given instead of tokens, and rises', () => {
    const parse = (...pressure: object[]) => pipelineSchema.safeParse({ views: { pressure } })
    const level = 'compact'
    expect(parse({ level }).success).toBe(false)
    expect(parse({ level, from_tokens: 1, from_share: 0.5 }).success).toBe(false)
    expect(parse({ level, from_share: 0.5 }, { level, from_share: 0.4 }).success).toBe(false)
    expect(parse({ level, from_share: 0.4 }, { level, from_share: 0.5 }).success).toBe(true)
  })
})
