import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ParkedCalls } from '../../../../src/mcp/fronts/modern/parked-calls.ts'
import { RequestStates } from '../../../../src/mcp/fronts/modern/request-state.ts'
import { createRounds } from '../../../../src/mcp/fronts/modern/rounds.ts'
import { Seal } from '../../../../src/mcp/fronts/modern/seal.ts'
import { TaskHandles } from '../../../../src/mcp/fronts/modern/task-handles.ts'
import type { SendAs, ServerRequest } from '../../../../src/mcp/gateway-options.ts'
import type { Outcome } from '../../../../src/mcp/json-rpc.ts'
import type { CallEnd } from '../../../../src/mcp/upstream/connection.ts'
import { eventually } from '../../../support/eventually.ts'
import { createFakeClock } from '../../../support/mcp/fake-clock.ts'

const DONE = '{"content":[]}'
const YES = '{"action":"accept","content":{"n":1.0}}'
const ALL = '{"sampling":{},"elicitation":{},"roots":{}}'

const answered = (json: string): CallEnd => ({
  kind: 'answered',
  outcome: { kind: 'result', result: Buffer.from(json) },
})

/** A server's side of one call. */
interface Sent {
  readonly params: string
  readonly terms: Parameters<SendAs>[1]
  ask(method?: string, params?: string): Promise<Outcome>
  end(json: string): void
}

function setUp({ era = 'legacy', capabilities = ALL, most = 100 } = {}) {
  const clock = createFakeClock()
  const seal = new Seal(randomBytes(32))
  const states = new RequestStates(seal, () => clock.now())
  const parked = new ParkedCalls(clock, most)
  const sent: Sent[] = []
  let holds = 0
  const send: SendAs = (params, terms) => {
    const ended = Promise.withResolvers<CallEnd>()
    terms.signal.addEventListener('abort', () => ended.resolve({ kind: 'aborted' }))
    const never = new AbortController().signal
    sent.push({
      ...{ params: String(params), terms },
      ask: (method = 'elicitation/create', about = '{"message":"?"}') =>
        terms.ask(method, Buffer.from(about), never),
      end: json => ended.resolve(answered(json)),
    })
    return ended.promise
  }
  /** One request of the client. */
  const play = (
    retry: { state?: string; responses?: string } = {},
    { tenant = 't', gone = new AbortController(), notify = (_: string) => {} } = {},
  ) => {
    const rounds = createRounds(
      { states, parked, clock, tasks: new TaskHandles(seal) },
      {
        caller: { tenant, credential: 'c' },
        capabilities: Buffer.from(capabilities),
        waiting: { signal: gone.signal, notify: method => notify(method) },
        hold() {
          holds++
          return () => void holds--
        },
      },
    )
    const { state, responses } = retry
    const extra = [
      ...(state === undefined ? [] : [`,"requestState":${state}`]),
      ...(responses === undefined ? [] : [`,"inputResponses":${responses}`]),
    ]
    const request: ServerRequest = {
      ...{ server: 's', isModern: era === 'modern', method: 'tools/call', timeoutMs: 60_000 },
      params: Buffer.from(`{"name":"a"${extra.join('')}}`),
    }
    return rounds(request, send)
  }
  return { clock, parked, sent, play, holds: () => holds, states }
}

interface Said {
  readonly failure?: string
  readonly code?: number
  readonly resultType?: string
  readonly requestState?: string
  readonly inputRequests?: object
  readonly taskId?: string
}

/** What an end says, as an object. */
function said(end: CallEnd): Said {
  if (end.kind !== 'answered') return { failure: end.kind }
  const { outcome } = end
  return JSON.parse(String(outcome.kind === 'result' ? outcome.result : outcome.error))
}
function text(end: CallEnd): string {
  if (end.kind !== 'answered' || end.outcome.kind !== 'result') throw new Error(end.kind)
  return String(end.outcome.result)
}
const stateOf = (end: CallEnd) => JSON.stringify(said(end).requestState)

const INVALID = { code: -32602, data: { reason: 'invalid_request_state' } }

describe('a call to a server that asks by requests', () => {
  it('waits for the client, round after round, and goes on', async () => {
    const { sent, play, holds, parked, clock } = setUp()
    const first = play()
    const name = sent[0]!.ask(
      'elicitation/create',
      '{"message":"name?","big":12345678901234567890}',
    )
    const one = await first
    expect(text(one)).toContain(
      '"input_1":{"method":"elicitation/create","params":{"message":"name?","big":12345678901234567890}}',
    )
    expect(said(one).resultType).toBe('input_required')
    expect(parked.size).toBe(1)
    const second = play({ state: stateOf(one), responses: `{"input_1":${YES}}` })
    expect(text({ kind: 'answered', outcome: await name })).toBe(YES)
    const color = sent[0]!.ask('roots/list', '{}')
    const two = await second
    expect(Object.keys(said(two).inputRequests ?? {})).toEqual(['input_2'])
    const third = play({ state: stateOf(two), responses: '{"input_2":{"roots":[]}}' })
    await color
    sent[0]!.end(DONE)
    expect(said(await third)).toEqual({ content: [] })
    expect(sent).toHaveLength(1)
    expect([holds(), parked.size, clock.waiting()]).toEqual([0, 0, 0])
  })

  it.each([
    ['no answers', undefined],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['another key', `{"input_2":${YES}}`],
    ['an answer that is a text', '{"input_1":"yes"}'],
    ['an answer that is null', '{"input_1":null}'],
    ['an unknown action', '{"input_1":{"action":"maybe"}}'],
    ['an answer to another question', '{"input_1":{"roots":[]}}'],
    ['a wrapped answer', `{"input_1":{"method":"elicitation/create","result":${YES}}}`],
    ['the prototype', `{"__proto__":{"input_1":${YES}}}`],
    ['two answers to one question', `{"input_1":${YES},"input_1":${YES}}`],
  ])('is asked again after %s', async (_, responses) => {
    const { sent, play } = setUp()
    const first = play()
    void sent[0]!.ask()
    const retry = responses === undefined ? {} : { responses }
    const again = await play({ state: stateOf(await first), ...retry })
    expect(Object.keys(said(again).inputRequests ?? {})).toEqual(['input_1'])
    const last = play({ state: stateOf(again), responses: `{"input_1":${YES},"more":1}` })
    sent[0]!.end(DONE)
    expect(said(await last)).toEqual({ content: [] })
  })

  it('takes each state once, from its tenant', async () => {
    const { sent, play, parked } = setUp()
    const first = play()
    void sent[0]!.ask()
    const state = stateOf(await first)
    expect(said(await play({ state }, { tenant: 'u' }))).toMatchObject(INVALID)
    expect(parked.size).toBe(1)
    await play({ state })
    expect(said(await play({ state }))).toMatchObject(INVALID)
    expect(sent).toHaveLength(1)
  })

  it('is cancelled if its client gives no answer in ten minutes', async () => {
    const { sent, play, parked, clock, holds } = setUp()
    const first = play()
    void sent[0]!.ask()
    const state = stateOf(await first)
    clock.advance(599_999)
    expect(sent[0]!.terms.signal.aborted).toBe(false)
    clock.advance(1)
    expect(sent[0]!.terms.signal.aborted).toBe(true)
    expect(parked.size).toBe(0)
    expect(said(await play({ state }))).toMatchObject(INVALID)
    await eventually(() => expect(holds()).toBe(0))
  })

  it('is cancelled if its client goes while it waits', async () => {
    const { sent, play, parked, holds } = setUp()
    const gone = new AbortController()
    const first = play()
    void sent[0]!.ask()
    const state = stateOf(await first)
    expect(sent[0]!.terms.signal.aborted).toBe(false)
    const responses = `{"input_1":${YES}}`
    const second = play({ state, responses }, { gone })
    gone.abort()
    expect(await second).toEqual({ kind: 'aborted' })
    expect(sent[0]!.terms.signal.aborted).toBe(true)
    await eventually(() => expect([holds(), parked.size]).toEqual([0, 0]))
  })

  it('survives that its first client connection ends', async () => {
    const { sent, play } = setUp()
    const gone = new AbortController()
    const first = play({}, { gone })
    void sent[0]!.ask()
    await first
    gone.abort()
    expect(sent[0]!.terms.signal.aborted).toBe(false)
  })

  it('is limited in time, without that of its client', async () => {
    const { sent, play, clock } = setUp()
    const first = play()
    clock.advance(50_000)
    void sent[0]!.ask()
    const state = stateOf(await first)
    clock.advance(300_000)
    const second = play({ state, responses: `{"input_1":${YES}}` })
    clock.advance(59_999)
    expect(sent[0]!.terms.signal.aborted).toBe(false)
    clock.advance(1)
    expect(await second).toEqual({ kind: 'timeout' })
  })

  it('is refused if a tenant has too many', async () => {
    const { sent, play, parked } = setUp({ most: 2 })
    for (let i = 0; i < 3; i++) {
      const call = play()
      void sent[i]!.ask()
      expect('code' in said(await call)).toBe(i === 2)
    }
    expect(sent[2]!.terms.signal.aborted).toBe(true)
    const other = play({}, { tenant: 'u' })
    void sent[3]!.ask()
    expect(said(await other).resultType).toBe('input_required')
    parked.close()
    expect(parked.size).toBe(0)
    expect(sent.every(({ terms }) => terms.signal.aborted)).toBe(true)
  })

  it('ends after 64 questions', async () => {
    const { sent, play } = setUp()
    let call = play()
    for (let i = 1; i <= 64; i++) {
      void sent[0]!.ask()
      const state = stateOf(await call)
      call = play({ state, responses: `{"input_${i}":${YES}}` })
    }
    void sent[0]!.ask()
    expect(said(await call)).toMatchObject({ code: -32603 })
    expect(sent[0]!.terms.signal.aborted).toBe(true)
  })

  it.each([
    ['sampling/createMessage', '{}', '{"elicitation":{}}', { sampling: {} }],
    ['sampling/createMessage', '{"tools":[]}', '{"sampling":{}}', { sampling: { tools: {} } }],
    ['elicitation/create', '{"mode":"url"}', '{"elicitation":{}}', { elicitation: { url: {} } }],
    ['elicitation/create', '{}', '{"elicitation":{"url":{}}}', { elicitation: { form: {} } }],
    ['roots/list', '{}', '{}', { roots: {} }],
  ])('is refused for %s %s with %s', async (method, params, capabilities, required) => {
    const { sent, play } = setUp({ capabilities })
    const call = play()
    void sent[0]!.ask(method, params)
    expect(said(await call)).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: required },
    })
    expect(sent[0]!.terms.signal.aborted).toBe(true)
  })

  it('answers a question that no client of 2026 knows by itself', async () => {
    const { sent, play } = setUp()
    const call = play()
    expect((await sent[0]!.ask('tasks/list')).kind).toBe('error')
    sent[0]!.end(DONE)
    expect(said(await call)).toEqual({ content: [] })
  })

  it('tells its notifications to who waits', async () => {
    const { sent, play } = setUp()
    const heard: string[] = []
    const first = play({}, { notify: name => void heard.push(`first ${name}`) })
    sent[0]!.terms.notify('a', null)
    void sent[0]!.ask()
    const state = stateOf(await first)
    sent[0]!.terms.notify('b', null)
    const responses = `{"input_1":${YES}}`
    const second = play({ state, responses }, { notify: name => void heard.push(`second ${name}`) })
    sent[0]!.terms.notify('c', null)
    sent[0]!.end(DONE)
    await second
    sent[0]!.terms.notify('d', null)
    expect(heard).toEqual(['first a', 'second c'])
  })
})

describe('a call to a server that asks inside results', () => {
  const asking = '{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}'

  it('keeps its state from the client, and gets it back byte for byte', async () => {
    const { sent, play } = setUp({ era: 'modern' })
    const first = play()
    sent[0]!.end(`${asking},"requestState":"\\u0061 secret"}`)
    const end = await first
    expect(JSON.stringify(said(end))).not.toContain('secret')
    expect(said(end).inputRequests).toEqual({ k: { method: 'roots/list' } })
    const second = play({ state: stateOf(end), responses: '{"k":{"roots":[]}}' })
    expect(sent[1]!.params).toBe(
      '{"name":"a","requestState":"\\u0061 secret","inputResponses":{"k":{"roots":[]}}}',
    )
    sent[1]!.end(DONE)
    expect(said(await second)).toEqual({ content: [] })
  })

  it('asks without a state if the server gives none', async () => {
    const { sent, play } = setUp({ era: 'modern' })
    const first = play()
    sent[0]!.end(`${asking}}`)
    expect(said(await first)).toEqual(JSON.parse(`${asking}}`))
    const second = play({ responses: '{"k":{"roots":[]}}' })
    sent[1]!.end(DONE)
    expect(said(await second)).toEqual({ content: [] })
  })

  it('never gets a state that it has not given', async () => {
    const { sent, play } = setUp({ era: 'modern' })
    for (const state of ['"mine"', '""', '7', '{}']) {
      expect(said(await play({ state }))).toMatchObject(INVALID)
    }
    expect(sent).toHaveLength(0)
  })

  it.each([
    ['{"k":{"method":"roots/list"}}', true],
    ['{"__proto__":{"method":"roots/list"}}', true],
    ['{"a":{"method":"elicitation/create","params":{}}}', false],
    ['[]', false],
    ['{"a":7}', false],
  ])('asks for what the client has declared: %s', async (requests, isRefused) => {
    const { sent, play } = setUp({ era: 'modern', capabilities: '{"elicitation":{}}' })
    const call = play()
    sent[0]!.end(`{"resultType":"input_required","inputRequests":${requests}}`)
    expect(said(await call).code).toBe(isRefused ? -32021 : undefined)
  })

  it('names its task by a handle', async () => {
    const { sent, play } = setUp({ era: 'modern' })
    const call = play()
    sent[0]!.end('{"resultType":"task","taskId":"7","status":"working"}')
    expect(said(await call)).toMatchObject({ resultType: 'task', status: 'working' })
    expect(said(await call).taskId).not.toBe('7')
  })
})
