import { describe, expect, it } from 'vitest'
import type { FreshRecord } from '../../../../../src/core/contract/operation-result.ts'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { createResultKeys } from '../../../../../src/core/conversation/rewrite/result-keys.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { page } from '../../../../support/made-text.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { counters } from '../../../../support/vocabularies.ts'

const LIMITS = { maxBytes: 1 << 26, maxDepth: 64, maxValues: 1_000_000 }

const use = (id: string, name = 'Read', input: object = {}) => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const result = (tool_use_id: string, content: unknown) => ({
  type: 'tool_result',
  tool_use_id,
  content,
})
const part = (text: string) => ({ type: 'text', text })
const said = (...content: object[]) => ({ role: 'assistant', content })
const got = (...content: object[]) => ({ role: 'user', content })
const turn = (id: string, content: unknown, input: object = {}) => [
  said(use(id, 'Read', input)),
  got(result(id, content)),
]
const bodyOf = (messages: readonly object[]) =>
  bytesOf(JSON.stringify({ model: 'gpt-5', messages }))

/** A process, of which the next request may be told what is on record. */
function thread(history = createHistoryMemory(2)) {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 16 }))
  return (
    messages: readonly object[],
    { pipeline = {}, records = [] }: { pipeline?: object; records?: readonly FreshRecord[] } = {},
  ) => {
    const recalled = Object.fromEntries(records.map(({ key, bytes }) => [key, bytes]))
    const sent = rewriteRequest(bodyOf(messages), 'anthropic_messages', LIMITS, {
      counters,
      maxDepth: 100,
      maxDecodedChars: 1_000_000,
      keepsOriginals: true,
      pipeline: pipelineSchema.parse(pipeline),
      rewrites: { tenant: '', memory, history, recalled },
    })
    const { messages: written } = JSON.parse(Buffer.from(sent.bytes).toString()) as {
      messages: { role: string; content: { content?: unknown }[] }[]
    }
    const texts = written.flatMap(({ role, content }) =>
      role === 'user' ? content.map(each => each.content) : [],
    )
    return { texts, records: sent.records }
  }
}

describe('what a thread remembers', () => {
  const APART = { dedup: { enabled_per_endpoint: { Read: false } } }
  const begin = turn('a', page(1))
  const all = [...begin, said(use('b', 'Bash')), got(result('b', `new\n${page(1)}`))]

  it('is of results as they are on record, not as it would have written them', () => {
    // Under these terms the first is no source.
    const { records } = thread()(begin, { pipeline: APART })
    const send = thread()
    const mine = send(all).texts
    expect(mine[1]).toMatch(/^new\n> \[ref/)
    const { texts } = send(all, { records })
    expect(texts).toEqual(thread()(all, { records }).texts)
    expect(texts[1]).toBe(`new\n${page(1)}`)
  })

  it('is the same for long arguments, turn by turn and at once', () => {
    // More than half of the memory, so that what comes twice would take the place of all before.
    const edits = Array.from({ length: 10 }, (_, i) => page(100 + i, 5000))
    const begin = [...turn('a', page(1)), ...turn('w', page(2), { edits })]
    const all = [...begin, ...turn('b', page(3)), ...turn('c', page(1))]
    const send = thread()
    for (let end = 2; end < all.length; end += 2) send(all.slice(0, end))
    const { texts } = thread()(all)
    expect(texts[3]).toMatch(/^> \[ref [0-9a-f]{8} Read 3 calls ago\]$/)
    expect(send(all).texts).toEqual(texts)
  })
})

describe('a reference', () => {
  it('says which of several parts it is to', () => {
    const image = { type: 'image', source: {} }
    const { texts } = thread()([
      ...turn('a', [part(page(1)), image, part(page(2))]),
      ...turn('b', page(1)),
      ...turn('c', `new\n${page(2)}`),
    ])
    expect(texts.slice(1)).toEqual([
      expect.stringMatching(/^> \[ref [0-9a-f]{8} part 1 of Read 1 call ago\]$/),
      expect.stringMatching(
        /^new\n> \[ref [0-9a-f]{8} lines 1-20 of part 3 of Read 2 calls ago\]$/,
      ),
    ])
  })

  it('is not to another part of the same result', () => {
    const content = [part(page(1)), part(page(1))]
    expect(thread()([...turn('a', content)]).texts).toEqual([content])
  })

  it('may stand for one of several texts', () => {
    const { texts } = thread()([
      ...turn('a', page(1)),
      ...turn('b', [part(page(1)), part(page(2))]),
    ])
    expect(texts[1]).toEqual([
      part(expect.stringMatching(/^> \[ref .* Read 1 call ago\]$/)),
      part(page(2)),
    ])
  })

  it('is not over results that stand in another order than their calls', () => {
    const calls = said(use('a'), use('b', 'Bash'))
    const [first, second] = [result('a', page(1)), result('b', page(2))]
    const later = turn('c', page(2))
    expect(thread()([calls, got(first, second), ...later]).texts[2]).toMatch(/Bash 1 call ago\]$/)
    expect(thread()([calls, got(second, first), ...later]).texts[2]).toBe(page(2))
    // Behind them calls and results are together again.
    const twice = [calls, got(second, first), ...later, ...turn('d', page(2))]
    expect(thread()(twice).texts[3]).toMatch(/Read 1 call ago\]$/)
  })

  it('is not to counted lines where other lines were put between', () => {
    const block = Array.from(
      { length: 12 },
      (_, i) => `${`${i + 1}`.padStart(6)}→const ${page(i, 1)}`,
    ).join('\n')
    const mixed = `${page(5, 15)}\n${block}\n${page(6, 15)}`
    const { texts } = thread()([...turn('a', mixed), ...turn('b', page(6, 15))])
    expect(texts[0]).toContain('\n→ end\n')
    expect(texts[1]).toBe(page(6, 15))
  })
})

describe('keys of results', () => {
  it('hash the arguments of a call once, however many results it has', () => {
    const content = page(1, 500)
    const count = 40
    const body = bodyOf([
      said(use('a', 'Write', { content })),
      got(...Array.from({ length: count }, (_, i) => result('a', `${i}`))),
    ])
    const { results } = scanRequest(body, 'anthropic_messages', LIMITS)!
    let read = 0
    const keys = createResultKeys(body, '')
    const names = results.map(each =>
      keys.next(
        new Proxy(each, {
          get(target, name) {
            if (name === 'argsBytes') read++
            const value: unknown = Reflect.get(target, name)
            return typeof value === 'function' ? value.bind(target) : value
          },
        }),
      ),
    )
    expect(read).toBe(1)
    expect(new Set(names).size).toBe(count)
  })

  it('tell apart what a later result may depend on', () => {
    const keyOf = (messages: readonly object[], at = 0) => {
      const body = bodyOf(messages)
      const keys = createResultKeys(body, '')
      return scanRequest(body, 'anthropic_messages', LIMITS)!.results.map(each => keys.next(each))[
        at
      ]
    }
    const text = page(1)
    const image = { type: 'image', source: {} }
    const variants = [
      turn('a', text),
      turn('a', [part(text), image]),
      [said(use('b'), use('a')), got(result('a', text))],
      [got(result('a', text)), said(use('a'))],
    ]
    expect(new Set(variants.map(each => keyOf(each))).size).toBe(variants.length)
    expect(keyOf(turn('a', [part(text)]))).toBe(keyOf(turn('a', text)))
    const two = (id: string) => [said(use('a'), use('b')), got(result('a', 'x'), result(id, text))]
    expect(keyOf(two('a'), 1)).not.toBe(keyOf(two('b'), 1))
  })
})
