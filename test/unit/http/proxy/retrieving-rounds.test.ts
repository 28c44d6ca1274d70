import { describe, expect, it } from 'vitest'
import { createRetrievingRounds } from '../../../../src/http/proxy/retrieving-rounds.ts'
import type { AnswerRounds } from '../../../../src/proxy/answer-rounds.ts'

const STREAM = ['content-type', 'text/event-stream']
const WHOLE = ['content-type', 'application/json']

type Block = Record<string, unknown>
const fetching = (id: string): Block => ({
  ...{ type: 'tool_use', id, name: 'haversack_retrieve' },
  input: { hash: id.padEnd(24, '0') },
})
const say = (text: string): Block => ({ type: 'text', text })
const call: Block = { type: 'tool_use', id: 'own', name: 'search', input: {} }

/** One answer as the vendor sends it. */
function answerOf(form: string, blocks: readonly Block[], output: number): Buffer {
  const stop_reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  const usage = { input_tokens: 7, output_tokens: output }
  const head = { type: 'message', id: 'm', role: 'assistant', model: 'm' }
  if (form === 'whole') {
    return Buffer.from(JSON.stringify({ ...head, content: blocks, stop_reason, usage }))
  }
  const events = [
    {
      type: 'message_start',
      message: { ...head, content: [], usage: { ...usage, output_tokens: 1 } },
    },
    ...blocks.flatMap((block, index) => {
      const isCall = block['type'] === 'tool_use'
      const delta = isCall
        ? { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }
        : { type: 'text_delta', text: block['text'] }
      const content_block = isCall ? { ...block, input: {} } : { type: 'text', text: '' }
      return [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]
    }),
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: output } },
    { type: 'message_stop' },
  ]
  const lines = events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return Buffer.from(lines.join(''))
}

const BODY = Buffer.from('{"messages":[{"role":"user","content":"x"}],"tools":[]}')

function rounds(needs: { text?: string; record?: () => Promise<void> } = {}) {
  const asked: string[] = []
  const created = createRetrievingRounds({
    route: 'anthropic_messages',
    request: { messages: 1, restored: 0, changed: 0, appendAt: BODY.indexOf(']') },
    body: BODY,
    coding: null,
    async retrieve(args) {
      asked.push(args)
      return needs.text ?? 'a text'
    },
    record: needs.record ?? (async () => {}),
  })
  return { rounds: created as AnswerRounds, asked }
}

/** Takes one answer; returns what passed to the client, and the next step. */
async function pass(form: string, to: AnswerRounds, blocks: readonly Block[], output = 5) {
  to.begin(200, form === 'whole' ? WHOLE : STREAM)
  const passed = Buffer.from(to.take(answerOf(form, blocks, output))).toString()
  const step = await to.end()
  const rest = step.kind === 'done' ? Buffer.from(step.bytes).toString() : ''
  return { step, text: passed + rest }
}

describe.each(['streamed', 'whole'])('the rounds of an answer, %s', form => {
  it('end once what was hidden is recorded, and not before', async () => {
    const recorded = Promise.withResolvers<void>()
    const { rounds: own } = rounds({ record: () => recorded.promise })
    await pass(form, own, [fetching('a')])
    let isOver = false
    const ended = pass(form, own, [say('Done.')]).then(() => {
      isOver = true
    })
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(isOver).toBe(false)
    recorded.resolve()
    await ended
  })

  it('are four, and then one without a text', async () => {
    const { rounds: own, asked } = rounds()
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      expect((await pass(form, own, [fetching(id)])).step.kind).toBe('again')
    }
    const last = await pass(form, own, [fetching('f')])
    expect(last.step.kind).toBe('done')
    expect(asked).toHaveLength(4)
    expect(last.text).not.toContain('tool_use')
    expect(last.text).toContain('end_turn')
  })

  it('fetch 80,000 bytes at most', async () => {
    const { rounds: own, asked } = rounds({ text: 'x'.repeat(50_000) })
    const { step } = await pass(form, own, ['a', 'b', 'c'].map(fetching))
    expect(asked).toHaveLength(2)
    expect(Buffer.from((step as { body: Uint8Array }).body).toString()).toContain('the limit')
    expect((await pass(form, own, [fetching('d')])).step.kind).toBe('again')
    expect(asked).toHaveLength(2)
  })

  it('sum the output, and leave calls of the client in place', async () => {
    const { rounds: own } = rounds()
    await pass(form, own, [fetching('a')], 5)
    await pass(form, own, [say('So. '), fetching('b')], 11)
    const { text } = await pass(form, own, [say('Now.'), call, fetching('c')], 20)
    expect(text).toContain('"output_tokens":36')
    expect(text).toContain('"search"')
    expect(text).not.toContain('haversack_retrieve')
  })

  it('put each round behind the one before in the next request', async () => {
    const { rounds: own } = rounds()
    const bodies: string[] = []
    for (const id of ['a', 'b', 'c']) {
      const { step } = await pass(form, own, [fetching(id)])
      bodies.push(Buffer.from((step as { body: Uint8Array }).body).toString())
    }
    const end = (body: string) => body.lastIndexOf('],"tools"')
    for (const [at, body] of bodies.entries()) {
      const { messages } = JSON.parse(body)
      expect(messages).toHaveLength(3 + 2 * at)
      if (at === 0) continue
      const before = bodies[at - 1]!
      expect(body.slice(0, end(before))).toBe(before.slice(0, end(before)))
    }
  })
})

it('arguments of a call that is left to the client keep their numbers and keys', async () => {
  const input = '{"id":12345678901234567890,"share":1.0,"\\n":{"\\t":1e3}}'
  JSON.parse('{"id":1,"share":1,"\\\\":2}')
  const answer = answerOf('whole', [fetching('a'), call], 5).toString()
  const { rounds: own } = rounds()
  own.begin(200, WHOLE)
  own.take(
    Buffer.from(answer.replace('"name":"search","input":{}', `"name":"search","input":${input}`)),
  )
  const step = await own.end()
  expect(step.kind).toBe('done')
  const text = Buffer.from((step as { bytes: Uint8Array }).bytes).toString()
  expect(text).toContain(`"name":"search","input":${input}`)
  expect(text).not.toContain('haversack_retrieve')
})

it('numbers and keys in a block that gets another place are as they came', async () => {
  const { rounds: own } = rounds()
  own.begin(200, STREAM)
  const cited = '{"type":"text","text":"","citations":[{"score":1.0,"\\t":12345678901234567890}]}'
  const stream = answerOf('streamed', [fetching('a'), say('So.'), call], 5).toString()
  const passed = own.take(Buffer.from(stream.replace('{"type":"text","text":""}', cited)))
  const step = await own.end()
  const text = Buffer.concat([passed, (step as { bytes: Uint8Array }).bytes]).toString()
  expect(text).toContain(`"index":0,"content_block":${cited}`)
})
