import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import {
  readStored,
  sumOfSent,
  writeStored,
} from '../../../../../src/core/conversation/rewrite/stored-rewrite.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import type { OperationContext } from '../../../../../src/core/operations/operation.ts'
import { BYTE_OPERATIONS } from '../../../../../src/core/operations/registry.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { anySaving } from '../../../../support/any-saving.ts'
import { resultRecords } from '../../../../support/recording-proxy.ts'
import { bytesOf, header, inlineRunner, workerSetup } from '../../../../support/runner.ts'
import { counters } from '../../../../support/vocabularies.ts'

const setup = workerSetup()
const context: OperationContext = {
  counters,
  maxDepth: 100,
  maxDecodedChars: 1_000_000,
  keepsOriginals: false,
  pipeline: anySaving(),
}
const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }

const ROWS = JSON.stringify(
  Array.from({ length: 8 }, (_, id) => ({ id, name: `n${id}` })),
  null,
  2,
)

/** A conversation of one call and its result. */
function chat(text: string, tool = 'list', model = 'gpt-5'): string {
  const call = { id: 'c', type: 'function', function: { name: tool, arguments: '{"a": 1.0}' } }
  return JSON.stringify({
    model,
    messages: [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: text },
    ],
  })
}

/** The same in the other vendor's shape. */
function answered(fields: object): string {
  const call = { type: 'tool_use', id: 'c', name: 'list', input: { a: 1 } }
  const result = { type: 'tool_result', tool_use_id: 'c', content: ROWS, ...fields }
  return JSON.stringify({
    model: 'gpt-5',
    messages: [
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ],
  })
}

const rewrite = (body: string) => rewriteRequest(bytesOf(body), 'openai_chat', LIMITS, context)

describe('a request', () => {
  it('gets the smaller text in the very place, and says what was saved', () => {
    const body = chat(ROWS)
    const { bytes, report } = rewrite(body)
    const [before, after] = body.split(JSON.stringify(ROWS)) as [string, string]
    const written = Buffer.from(bytes).toString()
    expect(written.startsWith(before) && written.endsWith(after)).toBe(true)
    const text: string = JSON.parse(written).messages[1].content
    const counter = context.counters.get('openai_o200k')
    const saved = counter.count(ROWS) - counter.count(text)
    expect(saved).toBeGreaterThan(0)
    const at = expect.closeTo((bytes.length - 1) / bytes.length, 5)
    expect(report).toEqual({
      readable: true,
      model: 'gpt-5',
      fresh: { tokenizer: 'openai_o200k', count: 1, before: 34 + saved, after: 34 },
      texts: 1,
      rewritten: 1,
      tokens_saved: saved,
      tokens_referred: 0,
      tokens_elided: 0,
      prefix_changed: false,
      conversation: expect.stringMatching(/^[0-9a-f]{16}$/),
      print: expect.objectContaining({ turns: 1 }),
      saved: [{ at, tokens: saved, messages: 0, tools: [['list', saved]] }],
    })
  })

  it.each([
    ['results without a gain', chat('just a sentence')],
    ['an empty result', chat('')],
    ['what was given back on demand', chat(ROWS, 'headroom_retrieve')],
    ['what was given back by the tool of a server', chat(ROWS, 'mcp__x__headroom_retrieve')],
  ])('stays the very body with %s', (_, body) => {
    const bytes = bytesOf(body)
    const answer = rewriteRequest(bytes, 'openai_chat', LIMITS, context)
    expect(answer.bytes).toBe(bytes)
    expect(answer.report).toMatchObject({ readable: true, texts: 1, rewritten: 0, tokens_saved: 0 })
  })

  it.each(['', '[', '{}', 'null', '{"messages":{}}'])('is not readable: %j', body => {
    const bytes = bytesOf(body)
    expect(rewriteRequest(bytes, 'anthropic_messages', LIMITS, context)).toMatchObject({
      bytes,
      report: { readable: false, texts: 0 },
    })
  })

  it('keeps halves of surrogate pairs around what is rewritten', () => {
    const odd = `{"messages":[{"role":"user","content":"\\ud800"},${chat(ROWS).slice(chat(ROWS).indexOf('[') + 1)}`
    const written = Buffer.from(rewrite(odd).bytes).toString()
    expect(written).toContain('"\\ud800"')
    expect(written.length).toBeLessThan(odd.length)
  })
})

describe('the operation', () => {
  const run = inlineRunner(BYTE_OPERATIONS, setup)

  it('answers the new bytes, and none where nothing changes', () => {
    const bodies = [chat(ROWS), chat('nothing')].map(bytesOf)
    const body = bytesOf(Buffer.concat(bodies))
    const jobs = bodies.map((bytes, n) =>
      header('rewrite_openai_chat', bytes, { start: n === 0 ? 0 : bodies[0]!.length }),
    )
    const result = run({ jobs, body: body.buffer, slot: 0 })
    const [first, second] = result.outcomes
    expect(first).toMatchObject({ kind: 'done', length: rewrite(chat(ROWS)).bytes.length })
    expect(second).toMatchObject({ kind: 'done', length: 0 })
    const [{ length } = { length: 0 }] = result.outcomes as readonly { readonly length: number }[]
    expect(Buffer.from(result.body, 0, length)).toEqual(Buffer.from(rewrite(chat(ROWS)).bytes))
  })
})

/** A context with a memory, and requests that leave as they are rewritten. */
function sending(tenant = '', memory = createBodyMemory({ bytes: 1 << 20 })) {
  const rewrites = { tenant, memory: attachRewriteMemory(memory), recalled: {} }
  const shared: OperationContext = { ...context, rewrites }
  function send(body: string, route: RouteName = 'openai_chat', at: OperationContext = shared) {
    const sent = rewriteRequest(bytesOf(body), route, LIMITS, at)
    for (const { position } of sent.records) rewrites.memory.confirm(position!)
    return sent
  }
  const counted = () => {
    throw new Error('counted')
  }
  const blind: OperationContext = { ...shared, counters: { get: counted } }
  return { memory, shared, blind, rewrites, send }
}

/** A conversation of several results. */
function turns(...texts: readonly string[]): string {
  return JSON.stringify({
    model: 'gpt-5',
    messages: texts.flatMap((text, id) => [
      {
        role: 'assistant',
        tool_calls: [
          { id: `${id}`, type: 'function', function: { name: 'list', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: `${id}`, content: text },
    ]),
  })
}

const OTHER_ROWS = ROWS.replaceAll('n1', 'n2')

describe('texts that were sent before', () => {
  it('are written the same again, by model and tool', () => {
    const { send } = sending()
    const bodies = [
      chat(ROWS),
      chat(ROWS, 'other'),
      chat(ROWS, 'list', 'claude-sonnet-4-6'),
      chat('"a short sentence of a tool"'),
      chat(OTHER_ROWS),
    ]
    for (const body of bodies) expect(resultRecords(send(body).records)).toHaveLength(1)
    for (const body of bodies.toReversed()) {
      const again = send(body)
      expect(again.records).toEqual([])
      expect(again.bytes).toEqual(rewrite(body).bytes)
    }
  })

  it('are not told ahead; the first that is new is, with what follows it, before it is written', () => {
    const { send, shared, blind, rewrites } = sending()
    const ahead: string[][] = []
    const telling = {
      rewrites: { ...rewrites, ahead: (keys: readonly string[]) => void ahead.push([...keys]) },
    }
    const keysOf = (body: string) => resultRecords(send(body).records).map(({ key }) => key)
    const [first] = resultRecords(send(turns(ROWS)).records)
    rewriteRequest(bytesOf(turns(ROWS)), 'openai_chat', LIMITS, { ...shared, ...telling })
    expect(ahead).toEqual([])
    const body = bytesOf(turns(ROWS, OTHER_ROWS, 'a short sentence of a tool'))
    expect(() => rewriteRequest(body, 'openai_chat', LIMITS, { ...blind, ...telling })).toThrow(
      'counted',
    )
    expect(ahead).toEqual([keysOf(turns(ROWS, OTHER_ROWS, 'a short sentence of a tool'))])
    expect(ahead[0]).not.toContain(first!.key)
  })

  it('are not encoded again once they have left', () => {
    const { send, shared, blind } = sending()
    rewriteRequest(bytesOf(chat(ROWS)), 'openai_chat', LIMITS, shared)
    expect(() => send(chat(ROWS), 'openai_chat', blind)).toThrow('counted')
    send(chat(ROWS))
    expect(send(chat(ROWS), 'openai_chat', blind).report.rewritten).toBe(1)
  })

  it.each([
    ['for another model', chat(ROWS, 'list', 'claude-sonnet-4-6'), 'openai_chat'],
    ['for another tool', chat(ROWS, 'other'), 'openai_chat'],
    ['behind another result', turns(OTHER_ROWS, ROWS), 'openai_chat'],
    ['as an error', answered({ is_error: true }), 'anthropic_messages'],
  ] as const)('are encoded anew %s', (_, body, route) => {
    const { send, blind } = sending()
    send(turns(ROWS))
    send(turns(OTHER_ROWS))
    send(answered({}), 'anthropic_messages')
    expect(() => send(body, route, blind)).toThrow('counted')
  })

  it('are encoded anew for another tenant', () => {
    const one = sending('one')
    const other = sending('other', one.memory)
    one.send(chat(ROWS))
    expect(() => other.send(chat(ROWS), 'openai_chat', other.blind)).toThrow('counted')
  })

  it('stay as they were sent where there is a record, whatever would be written today', () => {
    const { send, shared, rewrites } = sending()
    const [record] = rewriteRequest(bytesOf(chat(ROWS)), 'openai_chat', LIMITS, shared).records
    const literal = new TextEncoder().encode('"as it was written once"')
    const stored = {
      literal,
      saved: { referred: 0, encoded: 7, elided: 0 },
      isSource: false,
      markers: [],
      digest: 1,
      sent: sumOfSent(0, 1),
    }
    const recalled = { [record!.key]: writeStored(stored) }
    const { bytes, report, records } = send(chat(ROWS), 'openai_chat', {
      ...shared,
      rewrites: { ...rewrites, recalled },
    })
    expect(Buffer.from(bytes).toString()).toContain('"as it was written once"')
    expect(report).toMatchObject({ rewritten: 1, tokens_saved: 7, prefix_changed: false })
    expect(resultRecords(records)).toEqual([])
  })

  it('are told to have changed where another beginning leaves before them, once', () => {
    const { send, shared, rewrites } = sending()
    const conversation = turns(ROWS, OTHER_ROWS)
    const [first] = send(conversation).records
    const literal = new TextEncoder().encode('"another beginning"')
    const stored = {
      literal,
      saved: { referred: 0, encoded: 1, elided: 0 },
      isSource: false,
      markers: [],
      digest: 5,
      sent: sumOfSent(0, 5),
    }
    const changed = {
      ...shared,
      rewrites: { ...rewrites, recalled: { [first!.key]: writeStored(stored) } },
    }
    const { report, records } = send(conversation, 'openai_chat', changed)
    expect(report.prefix_changed).toBe(true)
    expect(resultRecords(records)).toMatchObject([{ replaces: true }])
    const settled = { [first!.key]: writeStored(stored), [records[0]!.key]: records[0]!.bytes }
    const again = { ...shared, rewrites: { ...rewrites, recalled: settled } }
    expect(send(conversation, 'openai_chat', again).report.prefix_changed).toBe(false)
  })

  it('survive where results before them are too short to be written in another way', () => {
    const { send, blind } = sending()
    const known = turns('ok', ROWS, 'ok')
    expect(resultRecords(send(known).records)).toHaveLength(1)
    expect(send(turns('ok', ROWS, 'ok', 'done'), 'openai_chat', blind).report.rewritten).toBe(1)
    expect(() => send(turns('no', ROWS), 'openai_chat', blind)).toThrow('counted')
  })
})

describe('a request whose tools fetch originals', () => {
  const LOG = Array.from(
    { length: 300 },
    (_, i) => `10:00:${i % 60} INFO step ${i * i} is done`,
  ).join('\n')
  const tools = [{ type: 'function', function: { name: 'haversack_retrieve' } }]
  const body = JSON.stringify({ ...JSON.parse(chat(LOG)), tools })
  const hashOf = (text: string) => hash('sha256', text, 'hex').slice(0, 24)

  function eliding(terms: OperationContext['terms'] = { redeems: true, bypass: false }) {
    const { shared, ...rest } = sending()
    return { ...rest, shared: { ...shared, keepsOriginals: true, ...(terms && { terms }) } }
  }

  it('keeps the original, and names it in each later turn', () => {
    const { send, shared } = eliding()
    const first = send(body, 'openai_chat', shared)
    expect(first.keep.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([LOG])
    expect(first.markers).toEqual([])
    expect(first.report.tokens_elided).toBeGreaterThan(0)
    const again = send(body, 'openai_chat', shared)
    expect(again.bytes).toEqual(first.bytes)
    expect(again).toMatchObject({ keep: [], markers: [hashOf(LOG)], records: [] })
  })

  it('gives originals again that are missing', () => {
    const { send, shared } = eliding()
    const { bytes } = send(body, 'openai_chat', shared)
    const terms = { redeems: true, bypass: false, restores: true } as const
    const restored = send(body, 'openai_chat', { ...shared, terms })
    expect(restored.keep.map(each => Buffer.from(each.bytes).toString())).toEqual([LOG])
    expect(restored.markers).toEqual([])
    expect(restored.bytes).toEqual(bytes)
  })

  it('keeps nothing of rewrites without markers, also when originals are missing', () => {
    const { send, shared } = eliding()
    const short = JSON.stringify({ ...JSON.parse(chat(ROWS)), tools })
    const { bytes, records } = send(short, 'openai_chat', shared)
    expect(resultRecords(records)).toHaveLength(1)
    const terms = { redeems: true, bypass: false, restores: true } as const
    const again = send(short, 'openai_chat', { ...shared, terms })
    expect(again).toMatchObject({ keep: [], markers: [], records: [] })
    expect(again.bytes).toEqual(bytes)
  })

  it('is recorded again as it was sent, if the store may have lost it', () => {
    const { send, shared, rewrites } = eliding()
    const first = send(body, 'openai_chat', shared)
    const terms = { redeems: true, bypass: false, recordsAgain: true } as const
    const again = send(body, 'openai_chat', { ...shared, terms })
    const inShort = (records: typeof first.records) =>
      records.map(({ key, bytes }) => [key, Buffer.from(bytes).toString()])
    expect(again.bytes).toEqual(first.bytes)
    expect(inShort(again.records)).toEqual(inShort(resultRecords(first.records)))
    // What was found in the store is there.
    const recalled = Object.fromEntries(first.records.map(({ key, bytes }) => [key, bytes]))
    const found = { ...shared, terms, rewrites: { ...rewrites, recalled } }
    expect(send(body, 'openai_chat', found).records).toEqual([])
  })

  it('has no new marker while nothing can be recorded, and those of earlier turns', () => {
    const { send, shared } = eliding()
    const terms = { redeems: true, bypass: false, recordedOnly: true } as const
    const unheard = { ...shared, terms }
    const whole = send(body, 'openai_chat', unheard)
    expect(Buffer.from(whole.bytes).toString()).not.toContain('hash=')
    expect(whole).toMatchObject({ keep: [], markers: [] })
    const { send: sendAgain, shared: other } = eliding()
    const marked = sendAgain(body, 'openai_chat', other)
    const again = sendAgain(body, 'openai_chat', { ...other, terms })
    expect(again.bytes).toEqual(marked.bytes)
    expect(again.report.prefix_changed).toBe(false)
  })

  it('has no new marker in earlier results after a recorded one, if their record may come', () => {
    const logs = ['a', 'b', 'c'].map(name => LOG.replaceAll('INFO', `INFO ${name}`))
    const asked = logs.flatMap((content, i) => {
      const call = { id: `c${i}`, type: 'function', function: { name: 'list', arguments: '{}' } }
      return [
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: `c${i}`, content },
      ]
    })
    const turn = (count: number) =>
      JSON.stringify({ model: 'gpt-5', tools, messages: asked.slice(0, 2 * count) })
    const markersIn = (bytes: Uint8Array) => {
      const { messages } = JSON.parse(Buffer.from(bytes).toString())
      return messages.flatMap(({ role, content }: { role: string; content: string }) =>
        role === 'tool' ? [content.includes('hash=')] : [],
      )
    }
    const { send, shared } = eliding()
    send(turn(1), 'openai_chat', shared)
    const terms = { redeems: true, bypass: false, earlierWhole: true } as const
    const { bytes, records } = send(turn(3), 'openai_chat', { ...shared, terms })
    expect(markersIn(bytes)).toEqual([true, false, true])
    expect(resultRecords(records).map(({ isEarlier = false }) => isEarlier)).toEqual([true, false])
    // If none is recorded, they were recorded once, and are written as they were then.
    const lost = eliding()
    const again = lost.send(turn(3), 'openai_chat', { ...lost.shared, terms })
    expect(markersIn(again.bytes)).toEqual([true, true, true])
  })

  it('has rather another beginning than a marker where nothing can be kept', () => {
    const { send, shared } = eliding()
    send(body, 'openai_chat', shared)
    const terms = { redeems: false, bypass: false }
    const whole = send(body, 'openai_chat', { ...shared, terms })
    expect(Buffer.from(whole.bytes).toString()).not.toContain('hash=')
    expect(whole).toMatchObject({ keep: [], markers: [], records: [{ replaces: true }] })
    expect(whole.report).toMatchObject({ prefix_changed: true, tokens_elided: 0 })
  })
})

describe('what is stored', () => {
  it.each([null, '"x\ny"'])('comes back as it was written: %j', text => {
    const literal = text === null ? null : new Uint8Array(Buffer.from(text))
    const stored = {
      literal,
      saved: { referred: 0, encoded: 3, elided: 0 },
      shown: { found: 'lines', covered: [1, 4] } as const,
      isSource: true,
      markers: ['ab'],
      digest: 4,
      sent: 5,
    }
    const read = readStored(new Uint8Array(writeStored(stored)))
    expect(read).toEqual(stored)
  })

  it('is not read where another version wrote it', () => {
    expect(readStored(new TextEncoder().encode('{"v":99}\n"x"'))).toBeNull()
  })
})
